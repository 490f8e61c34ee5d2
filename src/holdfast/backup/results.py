"""What the commands about backups answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.backup.snapshot import SINK_LOG, Snapshot, rfc3339


@dataclass(frozen=True)
class BackupSummary:
    """One backup in a few figures."""

    id: str
    """Time and digest; write TARGET@ID to name it."""
    made_at: str
    """When the copy was made, RFC 3339 in UTC."""
    purpose: str
    """`backup`; `before-restore` or `before-plan` for the copy that is made first; `archive` for a
    checkpoint that was emptied on purpose, which retention never removes."""
    query_id: str | None
    """The id in the checkpoint's `metadata`; None where it was missing or damaged."""
    last_planned: int | None
    """The newest batch in offsets/."""
    last_committed: int | None
    """The newest batch in commits/."""
    pending: int | None
    """The batch that was planned but not committed."""
    running: bool
    """A query seemed to be running while the copy was made."""
    file_count: int
    """How many files it holds."""
    total_bytes: int
    """The size of all its files; files that several backups share are kept once."""
    sink_log: bool
    """The log of the sink was copied as well."""
    mismatched: tuple[str, ...] = ()
    """Files that did not match their checksums when they were copied: the checkpoint was damaged
    already. Retention counts such a backup apart."""


class BackupAct(str, Enum):
    """What `backup` did."""

    MADE = "made"
    """It made a backup."""
    VERIFIED = "verified"
    """It read the copies of backups again, and made none."""


@dataclass(frozen=True, repr=False)
class BackupReport(OneLine):
    """What `backup` did, and what the store holds after it."""

    SHOWN: ClassVar = ("location", "act", "backups", "damaged")
    COMMAND: ClassVar = "backup"

    location: str
    """The checkpoint."""
    store: str
    """Where its backups lie."""
    act: BackupAct
    """`made` a backup, or only `verified` those that are there."""
    backups: tuple[BackupSummary, ...]
    """The backup that was made, or those that were verified."""
    copied_files: int
    """Files whose bytes the store did not have yet."""
    copied_bytes: int
    """Bytes that had to be written; 0 for a checkpoint that did not change."""
    verified_files: int
    """Copies that were read again and compared with their digests."""
    verified_bytes: int
    """How many bytes these are."""
    damaged: tuple[str, ...]
    """Copies that are missing or damaged, each as BACKUP: PATH."""
    removed_backups: tuple[str, ...]
    """Backups that --keep-last and --keep-within did not keep."""
    removed_files: int
    """Copies that no backup names any more, and that were removed."""
    freed_bytes: int
    """How many bytes these were."""


@dataclass(frozen=True)
class BackupPlace:
    """The backups of one checkpoint."""

    location: str
    """The checkpoint."""
    store: str
    """Where its backups lie."""
    stored_bytes: int
    """What all backups together take; files that they share count once."""
    unfinished: str | None
    """The restore that was interrupted here, if one was."""
    backups: tuple[BackupSummary, ...]
    """The newest first."""


@dataclass(frozen=True, repr=False)
class BackupList(OneLine):
    """What `backups` found."""

    SHOWN: ClassVar = ("places",)
    COMMAND: ClassVar = "backups"

    places: tuple[BackupPlace, ...]
    """One for each requested checkpoint."""


class RestoreAct(str, Enum):
    """What `restore` did."""

    RESTORED = "restored"
    """The files are as in the backup now."""
    UNCHANGED = "unchanged"
    """They were already; nothing was written."""
    FINISHED = "finished"
    """An interrupted restore was done to its end."""
    TAKEN_BACK = "taken-back"
    """An interrupted restore was undone; everything is as before it."""
    NOTHING = "nothing"
    """No restore was interrupted; nothing was written."""


@dataclass(frozen=True, repr=False)
class Restoration(OneLine):
    """What `restore` did."""

    SHOWN: ClassVar = ("location", "act", "backup", "written_files")
    COMMAND: ClassVar = "restore"

    location: str
    """Where it wrote."""
    act: RestoreAct
    """How it ended."""
    backup: str | None
    """The backup that was restored."""
    part: str
    """Which part of the backup: `checkpoint`, or `sink-log` for the log of its sink."""
    whole: bool
    """The whole part, not single files."""
    written_files: int
    """Files that were missing or differed."""
    written_bytes: int
    """How many bytes these are."""
    removed_files: int
    """Files that the backup does not have; the safety backup holds them."""
    verified_files: int
    """Files that were read again afterwards and are byte-identical to the backup."""
    safety_backup: str | None
    """The backup of what was there before; None where nothing was."""
    last_planned: int | None
    """The newest batch in offsets/ now; None where single files were restored, or nothing is."""
    pending: int | None
    """The batch that the next start runs again."""


def summary_of(snapshot: Snapshot) -> BackupSummary:
    """Return a backup in a few figures."""
    return BackupSummary(
        id=snapshot.id,
        made_at=rfc3339(snapshot.made_ms),
        purpose=snapshot.purpose,
        query_id=snapshot.query_id,
        last_planned=snapshot.last_planned,
        last_committed=snapshot.last_committed,
        pending=snapshot.pending,
        running=snapshot.running,
        file_count=len(snapshot.files),
        total_bytes=snapshot.total_bytes,
        sink_log=any(root.name == SINK_LOG for root in snapshot.roots),
        mismatched=snapshot.mismatched,
    )
