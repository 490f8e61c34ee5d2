"""HF45xx: backups and restores."""

from __future__ import annotations

from holdfast.codes.code import Code

_LIST = "holdfast backups TARGET lists the backups"

BACKUP_CODES: tuple[Code, ...] = (
    Code(
        "HF4501",
        "a query seems to be running on the checkpoint",
        "the backup is still consistent: what Spark writes last is read first, so every commit "
        "in the backup has its offsets and its state",
        ("nothing needs to be done; a backup of a stopped query is the newest possible",),
    ),
    Code(
        "HF4502",
        "the backup is older than what is known of the checkpoint",
        "Spark would plan new batches under ids that may already be in the sink, and rows would "
        "be skipped or duplicated. A batch may run again with its recorded offsets; it must "
        "never be planned a second time",
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
        "the checkpoint is intact and differs from the backup",
        "the batch may have reached the sink with the current content; the same batch id with "
        "different content would skip or duplicate rows",
        ("compare the two: restore --to another place, then holdfast diff",),
        exit_status=40,
    ),
    Code(
        "HF4504",
        "the checkpoint of another query is there",
        "its batches would be forgotten, and its sink would receive them again",
        ("restore --to another place",),
        exit_status=40,
    ),
    Code(
        "HF4505",
        "a query seems to be running on the checkpoint that would be changed",
        "Spark does not notice files that change under it; its next batch would mix both",
        (
            "stop the query, wait as long as the message says, and try again",
            "if it surely does not run: --even-if-running",
        ),
        exit_status=22,
    ),
    Code(
        "HF4506",
        "a restore was interrupted and is neither finished nor undone",
        "some files are from before the restore, others from the backup",
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
        ("pass --yes to confirm the restore",),
        exit_status=2,
    ),
    Code(
        "HF4509",
        "there is no such backup",
        "nothing was done",
        (_LIST, "name one with its id: TARGET@ID, or the newest: TARGET@newest"),
        exit_status=2,
    ),
    Code(
        "HF4510",
        "a copy in the backups is missing or damaged",
        "a restore of that file would not give the bytes that were there; it is refused",
        (
            "while the checkpoint still has the file: holdfast backup TARGET copies it again",
            "look at the disk or bucket that holds the backups",
        ),
    ),
    Code(
        "HF4511",
        "the list of a backup's files is damaged",
        "it cannot be determined which files belong to the backup; it is not restored",
        ("restore another backup; make a new one while the checkpoint is whole",),
    ),
    Code(
        "HF4512",
        "the checkpoint changed faster than it could be copied",
        "a file that the copy needs vanished or changed on every attempt; an incomplete copy is "
        "not a usable backup",
        ("stop the query, or try again while it is idle",),
    ),
    Code(
        "HF4513",
        "two copies of one checkpoint share one query id",
        "if both are started on one sink, each takes the other's batches for its own: rows are "
        "lost or duplicated",
        ("start only the one with the newer batches; never both on the same sink",),
    ),
    Code(
        "HF4514",
        "there is no directory next to the checkpoint for its backups",
        "backups are kept in .holdfast next to the checkpoint; the root of a bucket or disk has "
        "no such place",
        ("give the checkpoint's own directory",),
        exit_status=2,
    ),
    Code(
        "HF4515",
        "something in the checkpoint is not a regular file and was not copied",
        "Spark does not write links that lead out, pipes or devices; a restore cannot bring "
        "them back",
        ("look at what is there",),
    ),
    Code(
        "HF4516",
        "the backup does not have this file",
        "nothing was written",
        ("give the path as it is below the checkpoint, such as offsets/7", _LIST),
        exit_status=2,
    ),
    Code(
        "HF4517",
        "the sink may know batches that came after the backup",
        "nothing is left of the checkpoint to compare with; if batches ran after the backup was "
        "made, the next start plans new batches under their ids, and the sink skips or "
        "duplicates rows",
        ("before the start: ask the sink which batch of this query it committed last",),
    ),
    Code(
        "HF4518",
        "the checkpoint changed after the restore was interrupted",
        "a query planned and committed a batch on a partly restored checkpoint; finishing or "
        "undoing the restore would remove batches that may be in the sink",
        (
            "stop the query; do not start it again before somebody has looked",
            "holdfast inspect TARGET, and compare with the backup that the restore made first",
        ),
        exit_status=40,
    ),
    Code(
        "HF4519",
        "the backup has no log of a sink",
        "nothing was written",
        (
            "holdfast backup TARGET --sink-log PATH copies it from now on",
            "holdfast backups TARGET --json shows with sink_log which backups have one",
        ),
        exit_status=2,
    ),
    Code(
        "HF4520",
        "the log of a sink is never written over what is in use",
        "a sink knows its batches only from this log: with an older log it forgets batches that "
        "it has and accepts them twice, with a log of another time it skips batches that it lost",
        (
            "give an empty directory elsewhere with --sink-log-to",
            "entries of _spark_metadata that holdfast doctor TARGET --sink PATH reports as "
            "missing can be copied from there by hand, with the query stopped; nothing that is "
            "there already",
        ),
        exit_status=40,
    ),
    Code(
        "HF4521",
        "the directory for the sink's log is not empty",
        "with files of two logs in one directory, neither log can be read; nothing was written",
        ("give an empty or new directory with --sink-log-to",),
        exit_status=40,
    ),
    Code(
        "HF4522",
        "this is a copy of a sink's log, for inspection only",
        "it shows what the sink knew when the backup was made. In place of the live log it "
        "would make the sink forget batches that it has, or know batches whose rows it lost",
        ("read it with --sink; never copy it over the live log",),
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
    Code(
        "HF4525",
        "files in the backup do not match their checksums",
        "the checkpoint was already damaged when the backup was made. A restore gives back the "
        "damaged bytes; an older backup may have the file as Spark wrote it",
        (
            "holdfast doctor TARGET reports what the damage means for the next start",
            "holdfast backups TARGET shows which backups are marked as damaged; restore the file "
            "from one that is not: holdfast restore TARGET@ID --file PATH",
        ),
    ),
)
