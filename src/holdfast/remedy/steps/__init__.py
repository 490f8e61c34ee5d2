"""Every kind of step that a plan can have: how it is done, and how it is undone."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.remedy.steps.archive import EmptyCheckpoint, NoteRetirement, SetStart
from holdfast.remedy.steps.backfill import PrepareBackfill, RunBackfill
from holdfast.remedy.steps.checkpoint import AllowStart, BackupCheckpoint, BlockStart, ChangeFiles
from holdfast.remedy.steps.downstream import ReleaseDownstream, ResetDownstream
from holdfast.remedy.steps.moving import (
    CloseOldPlace,
    CopyCheckpoint,
    CopyRecords,
    OpenNewPlace,
    RememberPlace,
)
from holdfast.remedy.steps.rewinds import NoteRewind, SetCopiesAside
from holdfast.remedy.steps.singlefiles import RestoreFiles
from holdfast.remedy.steps.sink import ClearSink, FenceSink, MarkSink, RewindSink
from holdfast.remedy.steps.work import StepKind

STEP_KINDS: Mapping[str, StepKind] = {
    kind.name: kind
    for kind in (
        BackupCheckpoint(),
        BlockStart(),
        ChangeFiles(),
        AllowStart(),
        NoteRewind(),
        RestoreFiles(),
        MarkSink(),
        ClearSink(),
        FenceSink(),
        RewindSink(),
        SetCopiesAside(),
        EmptyCheckpoint(),
        SetStart(),
        NoteRetirement(),
        ResetDownstream(),
        ReleaseDownstream(),
        CopyCheckpoint(),
        CopyRecords(),
        CloseOldPlace(),
        RememberPlace(),
        OpenNewPlace(),
        PrepareBackfill(),
        RunBackfill(),
    )
}
