"""Pages: what only RocksDB state can suffer."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_LOAD = "CANNOT_LOAD_STATE_STORE"

PAGES: tuple[Page, ...] = (
    Page(
        "state-zip-unreadable",
        "the zip of a RocksDB version cannot be opened",
        "Each RocksDB version is a zip with its metadata, next to shared SST files. This zip is "
        "truncated or overwritten, or a file that it names is missing.",
        (
            "Unpacking, fixing and packing it again: names and sizes in it are part of the format.",
            "Removing it so that an older version is taken, without knowing that the changelogs "
            "up to the needed version are intact.",
        ),
        (
            "Put the zip, and any SST that is missing, back from one backup.",
            "`holdfast inspect --verify CHECKPOINT` shows which partition is hit.",
        ),
        fragments=(
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … java.util.zip.ZipException",
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … java.nio.file.NoSuchFileException",
            "java.util.zip.ZipException … RocksDBFileManager",
        ),
        codes=(
            "HF2111",
            "HF2221",
            "HF2314",
        ),
    ),
    Page(
        "rocksdb-metadata-version",
        "a RocksDB version describes itself with an unknown metadata version",
        "The metadata in the zip was written in a form that this Spark does not know, or its first "
        "line is damaged.",
        ("Downgrading further: older releases know fewer forms.",),
        (
            "Use the Spark that wrote the newest version, or a later one.",
            "If that is the one in use, the zip is damaged: put it back from a backup.",
        ),
        conditions=(f"{_LOAD}.CANNOT_READ_CHECKPOINT",),
        fragments=("Cannot read RocksDB checkpoint metadata. Expected",),
        codes=("HF2111",),
    ),
    Page(
        "changelog-version",
        "a changelog has a version that this Spark cannot handle",
        "The changelog of a newer Spark, with column families or row checksums, was met "
        "by an older "
        "one, or its first bytes are damaged.",
        ("Switching changelog checkpointing off: the files that are there must still be read.",),
        (
            "Start with the Spark that wrote it, or a newer one.",
            "If the release did not change, put the file back from a backup.",
        ),
        conditions=(
            f"{_LOAD}.INVALID_CHANGE_LOG_READER_VERSION",
            f"{_LOAD}.INVALID_CHANGE_LOG_WRITER_VERSION",
        ),
        codes=("HF2103",),
    ),
    Page(
        "changelog-writer",
        "the changelog of the next version cannot be created",
        "Spark could not open the file into which the changes of this batch go: permissions, a "
        "full storage, or a file of that name that another driver made.",
        ("Removing files of other versions to make room: the state is built from them.",),
        ("Check rights and space, and that no second driver runs; then start again.",),
        conditions=(f"{_LOAD}.FAILED_TO_GET_CHANGELOG_WRITER",),
        codes=("HF2210",),
    ),
    Page(
        "state-lineage",
        "the chain of state versions that lead to this one is broken",
        "State format 2 keeps, in every changelog, the ids of the versions before it. No snapshot "
        "of this chain can be found, or the chain contradicts itself: a snapshot or changelog was "
        "removed, or commits were cut by hand.",
        ("Picking a file of the same version with another id: it belongs to a failed attempt.",),
        (
            "Put the missing files of this partition back from one backup.",
            "Put back commits that were removed: they hold the ids that are looked for.",
        ),
        conditions=(
            f"{_LOAD}.CANNOT_FIND_BASE_SNAPSHOT_CHECKPOINT",
            f"{_LOAD}.INVALID_CHECKPOINT_LINEAGE",
        ),
        codes=("HF2221", "HF2233"),
    ),
    Page(
        "snapshot-repair-failed",
        "Spark tried older snapshots and none could be used",
        "Since 4.2 Spark replaces a corrupt snapshot by an older one and the changes "
        "after it. That "
        "failed too: the changes in between are gone or damaged as well.",
        (
            "Switching the repair off brings back the first error and nothing else.",
            "Raising the number of snapshots to try, when the deltas between are missing.",
        ),
        (
            "Put the snapshot, or the files between the older one and it, back from a backup.",
            "Keep a copy of the folder as it is: what is left in it may be needed.",
        ),
        conditions=(f"{_LOAD}.AUTO_SNAPSHOT_REPAIR_FAILED",),
        codes=("HF2221", "HF2238", "HF2239"),
    ),
    Page(
        "rocksdb-file-size",
        "an SST file does not have the size recorded in the version's metadata",
        "A file was copied to the executor and its length differs from what was "
        "recorded: a partial "
        "upload, or a file of the same name from a failed attempt.",
        (
            (
                "Changing the size in the metadata: RocksDB then reads a file that belongs to a "
                "different history."
            ),
        ),
        (
            "Put that SST back from the backup that also holds this version's zip.",
            "Upgrade: several releases before 4.1 reused names on retry.",
        ),
        conditions=(f"{_LOAD}.UNEXPECTED_FILE_SIZE",),
        fragments=("Sst file size mismatch",),
        codes=(
            "HF2111",
            "HF2314",
        ),
    ),
    Page(
        "rocksdb-unique-id",
        "an SST file is not the one that RocksDB expects",
        "The file has the right name but a different identity: after a retried task an older "
        "Spark uploaded two files under one name.",
        ("Switching RocksDB's verification off: rows of two histories are then mixed.",),
        (
            "Upgrade to a release with unique names (SPARK-43404, 46796, 52637).",
            "Put the version's zip and SST files back from one backup.",
        ),
        fragments=("Mismatch in unique ID on table file",),
        codes=("HF2312",),
    ),
    Page(
        "rocksdb-not-released",
        "a RocksDB instance is still held by another thread",
        "A task waited for the store of its partition while a former task, often one that was "
        "killed or hangs in a Python worker, still held it.",
        (
            "Raising the lock timeout to hours: the batch then hangs instead of failing.",
            "Removing local RocksDB directories while the executor is running.",
        ),
        (
            "Start the query again; the uncommitted batch is re-run. If it comes back, look at "
            "what the holding thread named in the message does, and restart that executor.",
        ),
        conditions=(f"{_LOAD}.UNRELEASED_THREAD_ERROR",),
        fragments=("RocksDB instance could not be acquired by",),
        unseen="it is a matter of threads while the query runs",
    ),
    Page(
        "rocksdb-zip-empty-file",
        "a file was empty when a RocksDB snapshot was packed",
        "Spark noticed before the upload that a file of the snapshot had no bytes, mostly because "
        "the executor's local disk is full. Nothing wrong was stored.",
        ("Setting the local directory to the checkpoint itself.",),
        ("Free the executor's local disk and start again: the batch is re-run.",),
        conditions=("STATE_STORE_UNEXPECTED_EMPTY_FILE_IN_ROCKSDB_ZIP",),
        unseen="it is refused before anything reaches the checkpoint",
    ),
)
