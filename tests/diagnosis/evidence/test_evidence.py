"""The nine facts agree with what Spark itself said, and nothing is claimed that is not known."""

from __future__ import annotations

import json

import pytest

from holdfast.answers import plain
from holdfast.checkpoint.releases import RELEASES
from holdfast.diagnosis.evidence.collecting import collect_evidence
from holdfast.diagnosis.inspection.evidence import ESSENTIAL, FACTS, Basis, SourceOffsets
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.findings import Severity
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of, replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample
from tests.diagnosis.doctor.examining import output_of
from tests.diagnosis.doctor.gathering import declared, gathered
from tests.diagnosis.doctor.scenarios import delta_id, delta_output, not_there

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS = "spark.sql.shuffle.partitions"


@over_samples("one", corpus())
def test_facts_agree_with_what_spark_said(one: Sample) -> None:
    """Query id, offsets, operators, provider and release, for every real checkpoint."""
    found = gathered(one.files(), one.output_files() or None).result
    told = one.facts
    assert found.query_id.value == told["query_id"]
    assert found.query_id.basis is Basis.READ
    names = {row["operatorId"]: row["operatorName"] for row in told["operators"] or ()}
    operators = found.stateful_operators.value or ()
    if names:
        assert {operator.id: operator.name for operator in operators} == names
    if operators:
        rocksdb = told["settings"].get(PROVIDER) == ROCKSDB
        assert found.state_store_provider.value == ("rocksdb" if rocksdb else "hdfs")
        assert found.state_store_provider.basis is Basis.READ
    version = found.spark_version.value
    if version is not None:
        assert version.low is not None
        assert version.high is not None
        true = RELEASES.index(one.spark.rpartition(".")[0])
        assert RELEASES.index(version.low) <= true <= RELEASES.index(version.high)
    _offsets_agree(one, found.source_offsets.value)


def _offsets_agree(one: Sample, offsets: SourceOffsets | None) -> None:
    """The newest planned batch ends where the progress of that batch says it ended."""
    told = {batch["batchId"]: batch for run in one.facts["runs"] for batch in run["progress"]}
    if offsets is None:
        assert not any(batch["numInputRows"] for batch in told.values())
    elif offsets.batch_id in told:
        ends = [json.dumps(source["endOffset"]) for source in told[offsets.batch_id]["sources"]]
        found = [json.dumps(plain(source.offset)) for source in offsets.sources]
        # Named sources stand in another order, and progress tells a source used twice once.
        assert {*found} == {*ends}


@over_samples("one", corpus())
def test_ready_means_that_nothing_essential_is_unknown(one: Sample) -> None:
    """And every unknown fact comes with how to get it."""
    found = gathered(one.files(), one.output_files() or None).result
    unknown = {name for name in FACTS if found.fact(name).basis is Basis.UNKNOWN}
    assert found.ready == (not unknown & set(ESSENTIAL))
    assert {missing.fact for missing in found.missing if missing.essential} == unknown & set(
        ESSENTIAL
    )
    assert unknown <= {missing.fact for missing in found.missing}
    assert all(missing.how and missing.what for missing in found.missing)
    for name in FACTS:
        fact = found.fact(name)
        assert fact.source
        if fact.basis is Basis.UNKNOWN:
            assert fact.value is None
        elif name != "state_store_provider":
            assert fact.value is not None
    assert {found.fact(name).basis for name in FACTS} <= {*Basis} - {Basis.RECORDED}


def test_each_essential_fact_alone_decides() -> None:
    """Without the one thing that tells it, a ready checkpoint is ready no more."""
    files, output = files_of("stateless"), sample("stateless", "4.3.0").output_files()
    assert gathered(files, output).result.ready
    newest = max(int(path[8:]) for path in files if path[:8] == "offsets/" and path[8:].isdigit())
    for broken, fact in (
        (without(files, "metadata"), "query_id"),
        (replaced(files, "metadata", b"x"), "query_id"),
        (replaced(files, f"offsets/{newest}", b""), "source_offsets"),
    ):
        found = gathered(broken, output).result
        assert not found.ready
        assert [one.fact for one in found.missing if one.essential] == [fact]
    alone = gathered(files).result
    assert [one.fact for one in alone.missing if one.essential] == ["sink"]


def test_a_file_sinks_log_tells_the_sink_and_its_last_batch() -> None:
    """It names no query, and takes append alone."""
    one = sample("stateless", "4.3.0")
    found = gathered(one.files(), one.output_files()).result
    assert found.sink.basis is Basis.READ
    assert found.sink.source == "out/_spark_metadata"
    sink = found.sink.value
    assert sink is not None
    assert (sink.kind, sink.last_committed, sink.knows_query) == ("files", 3, None)
    assert (found.output_mode.value, found.output_mode.basis) == ("append", Basis.INFERRED)


@pytest.mark.parametrize(
    ("name", "mode", "last"),
    [("delta", "append", 2), ("delta-restarted", "append", 2), ("delta-totals", "complete", 1)],
)
def test_a_delta_log_tells_sink_mode_and_release(name: str, mode: str, last: int) -> None:
    """All three are read, the release to its last number."""
    one = sample(name, "4.2.0")
    found = gathered(one.files(), one.output_files()).result
    sink = found.sink.value
    assert sink is not None
    assert (sink.kind, sink.last_committed, sink.knows_query) == ("delta", last, True)
    assert (found.output_mode.value, found.output_mode.basis) == (mode, Basis.READ)
    version = found.spark_version.value
    assert version is not None
    assert (version.value, version.low, version.high) == ("4.2.0", "4.2", "4.2")
    assert found.spark_version.basis is Basis.READ
    assert found.ready


def test_a_table_that_forgot_the_pending_batch_is_not_said_to_hold_it() -> None:
    """Delta would write it again: what the table skips is not known, and nothing is ready."""
    retention = {"delta.setTransactionRetentionDuration": "interval 7 days"}
    output = delta_output({delta_id(): 2}, retention)
    files = files_of("delta", "4.2.0")
    pending = gathered(without(files, "commits/2"), output).result
    assert pending.sink.value is not None
    assert (pending.sink.value.last_committed, pending.sink.basis) == (None, Basis.UNKNOWN)
    assert "expired" in pending.sink.value.last_committed_basis
    assert not pending.ready
    (missing,) = (one for one in pending.missing if one.fact == "sink")
    assert missing.how[0].startswith("holdfast doctor ")
    committed = gathered(files, output).result
    assert committed.sink.value is not None
    assert committed.sink.value.last_committed == 2
    assert committed.ready


def test_a_delta_table_of_another_query_is_not_taken_for_its_sink_without_a_word() -> None:
    """The table may be its sink through foreachBatch, which is inferred, not read."""
    other = sample("delta-totals", "4.2.0").output_files()
    found = gathered(files_of("stateless"), other).result
    assert found.sink.basis is Basis.INFERRED
    assert found.sink.value is not None
    assert (found.sink.value.last_committed, found.sink.value.knows_query) == (None, False)
    assert found.spark_version.basis is Basis.INFERRED
    assert "sink" in [missing.fact for missing in found.missing]


def test_a_lost_query_id_is_found_in_the_delta_log() -> None:
    """It is inferred, because a table can have other writers."""
    one = sample("delta", "4.2.0")
    found = gathered(without(one.files(), "metadata"), one.output_files()).result
    assert (found.query_id.value, found.query_id.basis) == (one.facts["query_id"], Basis.INFERRED)
    assert "_delta_log" in found.query_id.source
    assert found.output_mode.basis is Basis.READ


def test_a_delta_log_that_names_several_or_hides_some_gives_no_query_id() -> None:
    """Which of them it is would be a guess."""
    one = sample("delta", "4.2.0")
    files = without(one.files(), "metadata")
    whole = {path: data for path, data in one.output_files().items() if path.endswith(".json")}
    assert gathered(files, whole).result.query_id.basis is Basis.INFERRED
    newest = max(whole)
    other = b'\n{"txn":{"appId":"another","version":7}}\n'
    several = {**whole, newest: whole[newest] + other}
    assert gathered(files, several).result.query_id.basis is Basis.UNKNOWN
    purged = {path: data for path, data in whole.items() if path != min(whole)}
    assert gathered(files, purged).result.query_id.basis is Basis.UNKNOWN


def test_offsets_tell_whether_their_batch_is_committed() -> None:
    """A pending one runs again."""
    for name, committed in (("pending", False), ("stateless", True)):
        offsets = gathered(files_of(name)).result.source_offsets.value
        assert offsets is not None
        assert offsets.committed is committed


def test_commits_of_version_3_name_the_sink() -> None:
    """Read from the newest commit; what the sink holds stays open."""
    found = gathered(files_of("named-sinks")).result
    assert found.sink.basis is Basis.READ
    assert found.sink.source == "commits/3"
    assert found.sink.value is not None
    assert found.sink.value.identity == "silver"
    assert found.ready


def test_the_project_file_counts_as_inferred() -> None:
    """A declaration says what is meant, not what ran."""
    answer = gathered(files_of("aggregation-complete"), declared=declared("complete"))
    found = answer.result
    assert (found.output_mode.value, found.output_mode.basis) == ("complete", Basis.INFERRED)
    assert found.output_mode.source == "holdfast.yaml line 7"
    assert found.sink.basis is Basis.INFERRED
    assert found.sink.value is not None
    assert found.sink.value.identity == "./lake/gold"
    assert found.ready


def test_what_was_read_comes_before_what_is_declared() -> None:
    """And the contradiction is a finding: HF2505."""
    one = sample("delta-totals", "4.2.0")
    answer = gathered(one.files(), one.output_files(), declared("append"))
    assert answer.result.output_mode.value == "complete"
    assert [finding.code for finding in answer.findings] == ["HF2505"]
    agreeing = gathered(one.files(), one.output_files(), declared("complete"))
    assert agreeing.findings == ()


def test_another_kind_of_sink_than_declared_is_told() -> None:
    """HF2505 as well: a file sink's log where a Delta table is declared."""
    one = sample("stateless", "4.3.0")
    answer = gathered(one.files(), one.output_files(), declared("append"))
    assert [finding.code for finding in answer.findings] == ["HF2505"]
    fitting = gathered(one.files(), one.output_files(), declared("append", "parquet"))
    assert fitting.findings == ()


def test_a_sink_folder_without_a_log_is_told() -> None:
    """HF2504, with everything else still answered."""
    answer = gathered(files_of("stateless"), {"part-0.parquet": b""})
    assert [finding.code for finding in answer.findings] == ["HF2504"]
    assert answer.result.sink.basis is Basis.UNKNOWN
    assert answer.result.query_id.basis is Basis.READ


def test_a_damaged_newest_entry_leaves_the_provider_to_the_kinds_of_files() -> None:
    """Inferred, and said to be."""
    for name, provider in (("aggregation-hdfs-lz4", "hdfs"), ("aggregation-rocksdb", "rocksdb")):
        files = files_of(name)
        newest = max(
            int(path[8:]) for path in files if path[:8] == "offsets/" and path[8:].isdigit()
        )
        found = gathered(replaced(files, f"offsets/{newest}", b"")).result
        assert found.state_store_provider.value == provider
        assert found.state_store_provider.basis is Basis.INFERRED
        assert found.source_offsets.basis is Basis.UNKNOWN


def test_a_query_without_state_has_no_provider_and_that_is_known() -> None:
    """Inferred, because somebody may have removed the folder."""
    found = gathered(files_of("stateless")).result
    assert found.stateful_operators.value == ()
    assert found.stateful_operators.basis is Basis.INFERRED
    assert (found.state_store_provider.value, found.state_store_provider.basis) == (
        None,
        Basis.INFERRED,
    )


def test_a_fresh_checkpoint_knows_next_to_nothing() -> None:
    """No batch was planned: even whether there is state is not known."""
    found = gathered(files_of("fresh")).result
    known = [name for name in FACTS if found.fact(name).basis is not Basis.UNKNOWN]
    assert known == ["checkpoint_location", "query_id"]
    assert not found.ready


def test_how_to_get_it_names_the_target() -> None:
    """A command that can be pasted, and nothing that would remove anything."""
    answer = gathered(files_of("aggregation-complete"))
    assert "holdfast evidence memory --sink PATH" in answer.next_steps
    steps = " ".join(how for missing in answer.result.missing for how in missing.how)
    assert "TARGET" not in steps
    assert "delete" not in steps


def test_a_command_can_be_pasted_whatever_the_place_is_called() -> None:
    """Blanks and signs are quoted."""
    reader = MemoryReader(files_of("aggregation-complete"), "my place; x")
    (step,) = collect_evidence(reader).next_steps
    assert step == "holdfast evidence 'my place; x' --sink PATH"


def test_operators_of_3_5_lack_their_names() -> None:
    """Which is helpful to know, not essential."""
    found = gathered(files_of("aggregation-hdfs-lz4", "3.5.9")).result
    (lacking,) = [one for one in found.missing if one.fact == "stateful_operators"]
    assert not lacking.essential


def test_a_checkpoint_that_is_not_there_is_judged_by_the_sink_that_was_named() -> None:
    """Its first start would double what the table has; without a sink it is an error."""
    (one,) = not_there(output_of("delta", "4.2.0"))
    answer = collect_evidence(one.reader, sink=one.sink)
    told = {finding.code: finding.severity for finding in answer.findings}
    assert told["HF2412"] is Severity.FATAL
    assert told["HF2351"] is Severity.WARNING
    assert not answer.result.ready
    with pytest.raises(NotFoundError):
        collect_evidence(one.reader)


def test_a_foreign_folder_is_refused() -> None:
    """No facts about what is no checkpoint."""
    with pytest.raises(CheckpointError, match="no metadata"):
        gathered({"notes.txt": b"x"})
