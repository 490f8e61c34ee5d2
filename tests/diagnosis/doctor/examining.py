"""Examines checkpoints in memory, with the real outputs that belong to them."""

from __future__ import annotations

from holdfast.answers import Answer
from holdfast.diagnosis.doctor.doctor import Choice, Examinee, Unopened, examine
from holdfast.diagnosis.doctor.examination import Examination
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recorded
from holdfast.diagnosis.inspection.subject import DeclaredJob
from holdfast.findings import Finding
from holdfast.ledgers.reading import SinkPlace
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.corpus.loading import Sample, sample

Files = dict[str, bytes]
OUTPUT = "/lake/out"


def place_of(one: Sample) -> str:
    """Where the sample was made: operator metadata records it."""
    recorded = one.facts.get("checkpoint")
    return recorded if isinstance(recorded, str) else f"/tmp/holdfast-corpus/{one.name}/checkpoint"


def output_of(name: str, spark: str = "4.3.0") -> Files:
    """Give a fresh copy of the log that a sample's sink wrote."""
    return dict(sample(name, spark).output_files())


def examinee(
    files: Files,
    output: Files | None = None,
    *,
    path: str = "/lake/checkpoints/orders",
    scheme: str = "file",
    job: DeclaredJob | None = None,
    beside: tuple[str, ...] = (),
    reader: Reader | None = None,
    recorded: Recorded = NOTHING_RECORDED,
) -> Examinee:
    """Make an examinee of files in memory."""

    def open_sink(folder: str) -> Reader:
        start = f"{folder}/"
        below = {path.removeprefix(start): data for path, data in (output or {}).items()
                 if path.startswith(start)}  # fmt: skip
        return MemoryReader(below, location=f"{OUTPUT}/{folder}")

    def open_folder(folder: str) -> Reader:
        start = f"{folder.rstrip('/')}/"
        inside = {f"{one.removeprefix(start).partition('/')[0]}/": b"" for one in beside
                  if one.startswith(start)}  # fmt: skip
        return MemoryReader(inside)

    return Examinee(
        path,
        reader or MemoryReader(files, location=path),
        path,
        scheme,
        open_folder,
        SinkPlace(OUTPUT, open_sink) if output is not None else None,
        job,
        lambda: recorded,
    )


def examined(*examinees: Examinee | Unopened, verified: bool = False) -> Answer[Examination]:
    """Examine them together."""
    return examine(examinees, choice=Choice(), verified=verified)


def found(one: Examinee, *others: Examinee, verified: bool = False) -> dict[str, Finding]:
    """Give what is found at the first one, the worst finding of each code."""
    answer = examined(one, *others, verified=verified)
    codes = {finding.code for finding in answer.result.targets[0].findings}
    worst_last = reversed(answer.findings)
    return {finding.code: finding for finding in worst_last if finding.code in codes}
