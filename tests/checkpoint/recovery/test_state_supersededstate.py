"""Which state files the next start does not load, held against the chains of the state reader."""

from __future__ import annotations

from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import superseded_state
from holdfast.checkpoint.verification import verify
from holdfast.diagnosis.inspection.subject import every_partition
from holdfast.state.loading.logs import StateLog
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

TOTALS = "aggregation-hdfs-snapshots"
STATEFUL = [one for one in corpus() if one.facts.get("state")]


@over_samples("one", STATEFUL)
def test_nothing_that_is_loaded_is_superseded(one: Sample) -> None:
    """Of every shape and release; what lies before the first file of a chain is."""
    reader = MemoryReader(dict(one.files()))
    picture = read_picture(reader, history=1000)
    version = unhindered_start(picture).batch_id or 0
    log, unneeded = StateLog(reader, picture), superseded_state(picture)
    for operator, store, partition, files in every_partition(picture):
        before = [version - 1] if version - 1 in picture.commits else []
        history = log.histories(operator.id, store, [partition], before)[partition]
        links = history.chain(version).links
        assert not unneeded & {link.path for link in links}
        first = min((link.version for link in links if link.whole), default=0)
        older = [path for one in files.versions() if one < first for path in files.of_version(one)]
        assert unneeded >= set(older)


def test_a_damaged_snapshot_supersedes_nothing() -> None:
    """What it was made from is loaded in its place."""
    files = files_of(TOTALS)
    whole = superseded_state(read_picture(MemoryReader(files)))
    assert {"state/0/0/6.delta", "state/0/0/8.delta"} <= whole
    assert not {"state/0/0/8.snapshot", "state/0/0/9.delta"} & whole
    files["state/0/0/8.snapshot"] += b" "
    reader = MemoryReader(files)
    damaged = superseded_state(verify(reader, read_picture(reader)))
    assert "state/0/0/6.delta" not in damaged
    assert "state/0/1/6.delta" in damaged, "another partition has its own snapshot"
