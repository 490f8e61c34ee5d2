"""Judges what Holdfast says of one damaged checkpoint."""

from __future__ import annotations

import json
import resource
import signal
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Severity
from holdfast.storage.memory import MemoryReader
from tests.fuzz.cases import Case, make_case
from tests.fuzz.expecting import Effect, expect
from tests.fuzz.kinds import without_hadoop_sides

LONGEST_SECONDS = 10
MOST_BYTES = 256 * 1024 * 1024
"""What one inspection may take beyond what the process holds already."""
NOT_A_CHECKPOINT = "HF2001"
_UNVERIFIED_EVERY = 4


@dataclass(frozen=True)
class Look:
    """One inspection: where findings point, or how it went wrong."""

    places: frozenset[str] | None
    """None where the whole folder was refused."""
    failure: str | None
    seconds: float


@dataclass(frozen=True)
class Judgement:
    """One case with what was expected and what came of it."""

    number: int
    operator: str
    base: str
    kind: str
    effect: Effect
    change: str
    rules: frozenset[str]
    detectable: bool
    """With checksums: something shows the damage."""
    located: bool
    """With Hadoop's checksums beside the files."""
    located_bare: bool
    """Without them, as on object stores."""
    located_itself: bool
    """With checksums, at the damaged file and not only at one that it no longer fits."""
    located_itself_bare: bool
    disturbed: bool
    """A warning without checksums, although nothing that Spark reads has changed."""
    failures: tuple[str, ...]
    seconds: float


def judge(seed: int, number: int) -> Judgement:
    """Make a case, look at it with and without checksums, and compare with the oracles."""
    case = make_case(seed, number)
    expected = expect(case)
    bare_files = without_hadoop_sides(case.files)
    beside = look(case.files, case.base.location)
    bare = look(bare_files, case.base.location)
    looks = [beside, bare]
    if number % _UNVERIFIED_EVERY == 0:
        looks.append(look(case.files, case.base.location, verified=False))
    return Judgement(
        number,
        case.operator,
        case.base.name,
        expected.kind,
        expected.effect,
        expected.change,
        expected.rules,
        detectable=expected.effect in (Effect.GRAMMAR, Effect.RULE)
        or (expected.effect is Effect.SILENT and expected.traced),
        located=_points(beside, expected.places),
        located_bare=_points(bare, expected.places),
        located_itself=_points(beside, expected.own_places),
        located_itself_bare=_points(bare, expected.own_places),
        disturbed=bool(bare.places) and expected.effect in (Effect.SAME, Effect.UNREAD),
        failures=(*filter(None, (one.failure for one in looks)), *_refusals(case, looks)),
        seconds=max(one.seconds for one in looks),
    )


def look(files: Mapping[str, bytes], location: str, verified: bool = True) -> Look:
    """Inspect; anything but an answer or a Holdfast error is a failure, writing too."""
    before = dict(files)
    started = time.perf_counter()
    places: frozenset[str] | None = None
    failure = None
    try:
        with _limited():
            reader = MemoryReader(files, location=location)
            answer = inspect_checkpoint(reader, verified=verified)
            if not verified:
                # Drawing the document takes longer than the rest, so that a part of the run does.
                json.dumps(answer.document("0"))
            places = frozenset(
                place.rstrip("/")
                for finding in answer.findings
                if finding.severity.rank >= Severity.WARNING.rank
                for place in _named(finding)
            )
    except HoldfastError as error:
        if error.code.number != NOT_A_CHECKPOINT:
            failure = f"refused with {error.code.number}: {error.message}"
    except Exception:  # noqa: BLE001 - an exception of any kind is what is looked for
        failure = traceback.format_exc(limit=-6)
    if before != files:
        failure = "the files were changed"
    return Look(places, failure, time.perf_counter() - started)


def _named(finding: Finding) -> list[str]:
    """The place of a finding, and the files that its evidence says contradict each other."""
    files = finding.evidence.get("files")
    return [finding.place.file, *(files if isinstance(files, list) else [])]


def _refusals(case: Case, looks: list[Look]) -> list[str]:
    """A folder may be refused as a whole only where nothing of a checkpoint is left in it."""
    left = {path.split("/")[0] for path in case.files}
    parts = left & {"metadata", "offsets", "commits", "sources", "state"}
    refused = any(one.places is None and one.failure is None for one in looks)
    return ["refused although parts of a checkpoint are there"] if refused and parts else []


def _points(found: Look, places: frozenset[str]) -> bool:
    return found.places is None or bool(found.places & places)


@contextmanager
def _limited() -> Iterator[None]:
    """Stop what hangs or takes all memory; only a process's main thread can be stopped so."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"took longer than {LONGEST_SECONDS} s")

    earlier = signal.signal(signal.SIGALRM, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    signal.alarm(LONGEST_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)
