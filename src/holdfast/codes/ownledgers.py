"""HF244x, HF245x: a checkpoint with what a sink of Holdfast's own remembers, and its manifests."""

from __future__ import annotations

from holdfast.codes.code import Code

_BACKUP = "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET"
_MISSING_MANIFESTS = (
    "put the missing manifests back beside the output, and leave the newer ones as they are"
)

OWN_LEDGER_CODES: tuple[Code, ...] = (
    Code(
        "HF2441",
        "the sink's ledger is ahead of the checkpoint",
        "the checkpoint was rolled back, or its newest offsets are gone: Spark would plan these "
        "ids anew with other data. `holdfast run` refuses the start (HF3005)",
        (_BACKUP, "let no other program start the query meanwhile"),
    ),
    Code(
        "HF2442",
        "the checkpoint is ahead of the sink's ledger",
        "batches are committed that the sink does not hold under this query id: it was made anew "
        "or brought back from an older copy, and Spark will not deliver them again. `holdfast run` "
        "refuses the start (HF3006)",
        ("compare what the sink holds with the offsets of these batches before the next start",),
    ),
    Code(
        "HF2443",
        "the sink's ledger does not know this query id",
        "repeated batches are told by the query id: under a new one everything that is read again "
        "is written again",
        (
            "if the checkpoint was deleted: restore it from a backup (holdfast backups TARGET)",
            "do not write the id that the sink knows into a new checkpoint: it would plan batches "
            "that the sink has, and `holdfast run` refuses it",
            "if the checkpoint is new on purpose: give the job a name and an output of its own",
        ),
    ),
    Code(
        "HF2451",
        "a committed batch is not published to its last file",
        "its manifest is written, and files of it still lie in staging: a reader that lists the "
        "folder sees a part of the batch",
        ("start the job again: what is committed is published first, nothing is computed again",),
    ),
    Code(
        "HF2452",
        "files that a manifest names are gone",
        "the batch was published, and readers of the folder miss these rows now. A retention job "
        "that removes old files leaves the same trace",
        (
            "where no retention job did it: bring the files back from a copy of the output",
            "keep other programs away from the output folder",
        ),
    ),
    Code(
        "HF2453",
        "a published file is not the one that was committed",
        "its size differs from the manifest's: somebody wrote or cut it, and readers see other "
        "rows than the batch had",
        (
            "bring the file back from a copy of the output",
            "keep other programs away from the output folder",
        ),
    ),
    Code(
        "HF2454",
        "files lie in the output folder that no manifest names",
        "whoever lists the folder reads them as rows, and no batch of this sink brought them",
        (
            "find out who wrote them; if another writer did, move them to a place outside of the "
            "output",
            "do not move them where a manifest is missing or unreadable (HF2455, HF2456): they may "
            "be the rows of that batch",
            "give every writer a folder of its own",
        ),
    ),
    Code(
        "HF2455",
        "a manifest can't be read",
        "whether the sink holds this batch, and with which files, is unknown without it; the job "
        "stops when it needs to know (HF5023)",
        ("bring the file back as it was", "or use the newer version of Holdfast that wrote it"),
    ),
    Code(
        "HF2456",
        "the manifests of a query have a gap",
        "every batch has a manifest, also an empty one: a missing one was lost, and its rows with "
        "it unless its files are still published",
        (_MISSING_MANIFESTS, "compare the rows of the batches around the gap with the source"),
    ),
    Code(
        "HF2457",
        "something lies in staging that no attempt of this sink left",
        "it is never published and never removed; it only takes room",
        ("find out who wrote it; staging belongs to the sink alone",),
    ),
    Code(
        "HF2458",
        "batches of the sink were taken back",
        "a rewind or clear that was not finished leaves files that readers of the folder may still "
        "see. A driver that came late leaves void manifests: they count for nobody",
        (
            "if it is not finished, start the job again: it is finished before anything is written",
            "void manifests need nothing: the next rewind or clear removes them",
        ),
    ),
    Code(
        "HF2459",
        "an attempt left files in staging",
        "a driver was killed before it committed the batch. They are invisible to readers, and go "
        "when the batch is committed",
        ("nothing has to be done: the next commit of this batch removes them",),
    ),
)
