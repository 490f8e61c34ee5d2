"""Offsets that real Spark wrote, held against what Spark itself said of each source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from holdfast.format.sources import SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

KINDS = {
    "FileStreamSource": "file",
    "KafkaV2": "kafka",
    "DeltaSource": "delta",
    "RateStreamV2": "rate",
    "RatePerMicroBatchStream": "rate-micro-batch",
    "MemoryStream": "unknown",
    "TextSocketV2": "unknown",
    "PythonMicroBatchStream": "unknown",
    "PythonMicroBatchStreamWithAdmissionControl": "unknown",
}
"""How Spark describes a source, and what its offset can be known as without a project."""

SAMPLES = [sample for sample in corpus() if any(run["progress"] for run in sample.facts["runs"])]


def described_kinds(sample: Sample) -> set[str]:
    """Gives the kinds of the sources that Spark described."""
    descriptions = {
        source["description"].split("[")[0].split("@")[0].rpartition(".")[2]
        for run in sample.facts["runs"]
        for progress in run["progress"]
        for source in progress["sources"]
    }
    return {KINDS[description] for description in descriptions}


def offsets_of(sample: Sample) -> dict[str, list[SourceEvidence]]:
    """Gives every source's offsets, batch by batch, with what lies in its folder."""
    files = sample.files()
    batches = sorted(int(name[8:]) for name in files if _is_batch(name))
    found: dict[str, list[SourceEvidence]] = {}
    for batch in batches:
        for name, text in _lines(files[f"offsets/{batch}"].decode()):
            inside = {
                path: body for path, body in files.items() if path.startswith(f"sources/{name}/")
            }
            has_log = any(body.startswith(b'v1\n{"path"') for body in inside.values())
            evidence = SourceEvidence(text, inside.get(f"sources/{name}/0"), has_log)
            found.setdefault(name, []).append(evidence)
    return found


def _is_batch(name: str) -> bool:
    return name.startswith("offsets/") and name[8:].isdigit()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    version, _, *lines = text.split("\n")
    for index, line in enumerate(lines):
        name, _, rest = line.partition(":") if version == "v2" else (str(index), "", line)
        if rest not in ("", "-"):
            yield name, rest


@over_samples("sample", SAMPLES)
def test_every_offset_is_of_a_kind_that_spark_described(sample: Sample) -> None:
    expected = described_kinds(sample)
    for offsets in offsets_of(sample).values():
        assert {explain(offset).kind for offset in offsets} <= expected


@over_samples("sample", corpus())
def test_offsets_of_successive_batches_never_went_back(sample: Sample) -> None:
    for offsets in offsets_of(sample).values():
        kind = explain(offsets[0]).kind
        for before, after in pairwise(offsets):
            assert moved_back(kind, before, after) is None
            assert kind == "unknown" or amount_between(kind, before, after).total is not None


@pytest.mark.parametrize(
    "sample",
    [
        sample
        for sample in SAMPLES
        if sample.name in ("kafka", "kafka-to-kafka", "rate-micro-batch")
    ],
    ids=str,
)
def test_amounts_agree_with_the_rows_that_spark_counted(sample: Sample) -> None:
    """The first Kafka batch counts from the initial offset in `sources/0/0`."""
    counted = {
        progress["batchId"]: progress["numInputRows"]
        for run in sample.facts["runs"]
        for progress in run["progress"]
    }
    (offsets,) = offsets_of(sample).values()
    kind = explain(offsets[0]).kind
    for batch, (before, after) in enumerate(pairwise([None, *offsets])):
        assert after is not None
        assert amount_between(kind, before, after).total == counted.get(batch, 0)
