"""The last run in a bundle of evidence, for those who can't reach the checkpoint."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.inspection.result import Inspection, inspection_of
from holdfast.diagnosis.inspection.runs.lastquery import LAST_RUN, ComparedRun
from holdfast.errors import HoldfastError, UsageError
from holdfast.records.documents import UnreadableError, decode_document
from holdfast.records.run import PlanFacts, SinkFacts
from holdfast.restart.rules import RULES
from holdfast.restart.rules.output import sink_declaration
from holdfast.restart.rules.planned import planned_sources
from holdfast.restart.rules.rule import Needs, Rule
from holdfast.restart.start import StartFacts
from holdfast.storage.memory import MemoryReader

_FOLDER = "checkpoint/"
_MOST_BYTES = 512 * 1024 * 1024

BUNDLE_RULES: tuple[Rule, ...] = tuple(
    rule
    for rule in RULES
    if rule.needs is not Needs.CHECKPOINT or rule in (planned_sources, sink_declaration)
)
"""Rules that ask neither the sink nor the state files, which no bundle has."""


@dataclass(frozen=True)
class BundledRun:
    """What a bundle holds of a checkpoint and of the run that made it."""

    last: ComparedRun
    inspection: Inspection

    def start(self, plan: PlanFacts, sink: SinkFacts | None, spark: str) -> StartFacts:
        """Return a start of a planned query, as far as the bundle knows what is there."""
        start = StartFacts.without_sink(self.inspection, plan, self.last, spark=spark)
        return replace(start, current_sink=sink)


def read_bundle(file: Path) -> BundledRun:
    """Read a bundle; raise HF2506 where it is none, or knows no query."""
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST_BYTES:
                raise _unusable(file, f"it unpacks to more than {_MOST_BYTES:,} bytes")
            contents = {name: archive.read(name) for name in archive.namelist()}
    except OSError as error:
        message = f"the bundle cannot be read: {(error.strerror or str(error)).lower()}"
        steps = ("correct the path given with --against",)
        raise UsageError("HF2506", message, at=str(file), next_steps=steps) from error
    except zipfile.BadZipFile as error:
        raise _unusable(file, "it is not a zip file, or damaged") from error
    if LAST_RUN not in contents:
        raise _unusable(file, f"it has no {LAST_RUN}: no recorded run knows its query")
    logs = {
        name.removeprefix(_FOLDER): data
        for name, data in contents.items()
        if name.startswith(_FOLDER)
    }
    try:
        last = decode_document(ComparedRun, contents[LAST_RUN])
        picture = picture_of(MemoryReader(logs, location=str(file)))
    except (UnreadableError, HoldfastError) as error:
        raise _unusable(file, str(error)) from error
    inspection = inspection_of(picture, formats={}, shown=SHOWN_BATCHES, spark=None, verified=False)
    return BundledRun(last, inspection)


def _unusable(file: Path, why: str) -> UsageError:
    return UsageError("HF2506", f"the bundle cannot be used: {why}", at=str(file))
