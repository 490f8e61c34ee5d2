"""HF45xx: backups and restores."""

from __future__ import annotations

from holdfast.codes.code import Code

_LIST = "holdfast backups TARGET shows what there is"

BACKUP_CODES: tuple[Code, ...] = (
    Code(
        "HF4501",
        "a query seems to be running on the checkpoint",
        "the backup is consistent all the same: what Spark writes last was looked at first, so "
        "that every commit in it has its offsets and its state",
        ("nothing needs to be done; a backup of a stopped query is the newest possible",),
    ),
    Code(
        "HF4502",
        "the backup is older than what is known of the checkpoint",
        "Spark would plan batch ids anew that the sink may already hold: it would skip or double "
        "rows. A batch may be run again with its recorded offsets, never planned a second time",
        (
            "restore the newest backup instead: holdfast restore TARGET@newest",
            "restore only the files that are missing or damaged: holdfast restore TARGET@ID --file "
            "PATH",
            "to look at the older backup: holdfast restore TARGET@ID --to DIR",
        ),
        exit_status=40,
    ),
    Code(
        "HF4503",
        "what is there now is whole, and differs from the backup",
        "the batch may have reached the sink with what is there now; the same batch id with other "
        "content would skip or double rows",
        ("compare the two: restore --to another place, then holdfast diff",),
        exit_status=40,
    ),
    Code(
        "HF4504",
        "another query's checkpoint is there",
        "its batches would be forgotten, and its sink would meet them again",
        ("restore --to another place",),
        exit_status=40,
    ),
    Code(
        "HF4505",
        "a query seems to be running where the restore would write",
        "Spark does not notice files that change under it; its next batch would mix both",
        (
            "stop the query, wait as long as the message says, and try again",
            "if it surely does not run: --even-if-running",
        ),
        exit_status=22,
    ),
    Code(
        "HF4506",
        "a restore was interrupted and is neither finished nor taken back",
        "what is there is half what it was and half what it should be",
        (
            "do not start the query",
            "holdfast restore --finish TARGET, or holdfast restore --undo TARGET",
        ),
        exit_status=42,
    ),
    Code(
        "HF4507",
        "another backup or restore is at work here",
        "two at once could remove what the other relies on",
        ("wait until it is done, and try again",),
        exit_status=22,
    ),
    Code(
        "HF4508",
        "the restore was not confirmed",
        "a restore writes to the checkpoint; nothing was written",
        ("give --yes if it is meant",),
        exit_status=2,
    ),
    Code(
        "HF4509",
        "there is no such backup",
        "nothing was done",
        (_LIST, "write TARGET@ID, or TARGET@newest"),
        exit_status=2,
    ),
    Code(
        "HF4510",
        "a copy in the backups is missing or damaged",
        "a restore of that file would not give the bytes that were there; it is refused",
        (
            "while the checkpoint still has the file: holdfast backup TARGET copies it anew",
            "look at the disk or bucket that holds the backups",
        ),
    ),
    Code(
        "HF4511",
        "the list of a backup's files is damaged",
        "it can't be told what the backup holds; it is not restored",
        ("restore another backup; make a new one while the checkpoint is whole",),
    ),
    Code(
        "HF4512",
        "the checkpoint changed faster than it could be copied",
        "a file that the copy needs vanished or changed each time; a copy with a hole is no backup",
        ("stop the query, or try again while it is idle",),
    ),
    Code(
        "HF4513",
        "two copies of one checkpoint share one query id",
        "if both are started on one sink, each takes the other's batches for its own: rows are "
        "lost or doubled",
        ("start only the one with the newer batches; never both on the same sink",),
    ),
    Code(
        "HF4514",
        "there is no place beside the checkpoint for its backups",
        "backups lie in .holdfast beside the checkpoint; a bucket or a disk root has none",
        ("give the checkpoint's own folder",),
        exit_status=2,
    ),
    Code(
        "HF4515",
        "something in the checkpoint is no plain file and was not copied",
        "links that lead out, pipes and devices are not Spark's; a restore can't bring them back",
        ("look at what stands there",),
    ),
    Code(
        "HF4516",
        "the backup does not hold this file",
        "nothing was written",
        ("give the path as it is below the checkpoint, such as offsets/7", _LIST),
        exit_status=2,
    ),
    Code(
        "HF4517",
        "the sink may know batches that came after the backup",
        "nothing is left of the checkpoint that could tell; if batches ran after the backup was "
        "made, the next start plans their ids anew, and the sink skips or doubles rows",
        ("before the start: ask the sink which batch of this query it committed last",),
    ),
    Code(
        "HF4518",
        "the checkpoint went on since the restore was interrupted",
        "a query planned a batch and committed it on a half restored checkpoint; finishing or "
        "taking back would wipe out batches that the sink may hold",
        (
            "stop the query; do not start it again before somebody has looked",
            "holdfast inspect TARGET, and compare with the backup that the restore made first",
        ),
        exit_status=40,
    ),
    Code(
        "HF4519",
        "the backup holds no log of a sink",
        "nothing was written",
        (
            "holdfast backup TARGET --sink-log PATH copies it from now on",
            "holdfast backups TARGET --json tells with sink_log which backups hold one",
        ),
        exit_status=2,
    ),
    Code(
        "HF4520",
        "the log of a sink is never written over what is in use",
        "the log is all that a sink knows of batches: with an older one it forgets batches that it "
        "holds and takes them twice, with one of another time it skips batches that it lost",
        (
            "give an empty folder elsewhere with --sink-log-to",
            "entries of _spark_metadata that holdfast doctor TARGET --sink PATH names as missing "
            "can be copied from there by hand, with the query stopped; nothing that is there "
            "already",
        ),
        exit_status=40,
    ),
    Code(
        "HF4521",
        "the place for the sink's log is not empty",
        "files of two logs in one folder tell about neither; nothing was written",
        ("give an empty or new folder with --sink-log-to",),
        exit_status=40,
    ),
    Code(
        "HF4522",
        "this is a copy of a sink's log, to be looked at",
        "it tells what the sink knew when the backup was made. In the place of the live log it "
        "would make the sink forget batches that it holds, or know batches whose rows it lost",
        ("ask it with --sink; never copy it over the live log",),
    ),
    Code(
        "HF4523",
        "a restore lost the lease before it changed anything",
        "another process took over the checkpoint while the restore was suspended. The restore "
        "wrote its journal entry late, found that it had lost the lease, and stopped. The "
        "checkpoint is as the other process left it",
        ("run the restore again if it is still needed",),
    ),
    Code(
        "HF4524",
        "a late driver wrote to the checkpoint while the restore was interrupted",
        "a driver that had lost the lease committed the batch it was delivering, or planned one "
        "more. Finishing the restore would overwrite that entry or remove the state it relies on",
        (
            "holdfast restore --undo TARGET keeps the entry and puts everything else back as it "
            "was before the restore",
        ),
        exit_status=40,
    ),
)
