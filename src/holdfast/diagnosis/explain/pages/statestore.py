"""Pages: state that can't be found or loaded."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_LOAD = "CANNOT_LOAD_STATE_STORE"


def _gone(name: str) -> tuple[str, str]:
    """Return how HDFS and S3 report that a file of a partition's state is not there."""
    path = f"<path>/state/#/#/{name}"
    return f"File does not exist: {path}", f"No such file or directory: {path}"


PAGES: tuple[Page, ...] = (
    Page(
        "state-load-failed",
        "state could not be loaded, and Spark does not say why",
        "Something went wrong while a task read the state of its partition; only the causes below "
        "the message show the reason. The batch may have reached the sink in part.",
        (
            "Starting over with a new checkpoint before anybody read the cause: often one file out "
            "of thousands is damaged.",
        ),
        (
            "Paste the whole trace, with every `Caused by`, into `holdfast explain -`.",
            "`holdfast inspect --verify CHECKPOINT` reads every file of the state.",
        ),
        conditions=(_LOAD, f"{_LOAD}.UNCATEGORIZED"),
        codes=("HF2221", "HF2239", "HF2114"),
        wraps=True,
    ),
    Page(
        "state-delta-missing",
        "a delta file of the state is missing",
        "To load version n of a partition Spark needs the newest snapshot before it and "
        "every delta "
        "after that. One delta is gone, or the batch that should have written it never finished, "
        "or the pinned number of partitions was edited to more than there are.",
        (
            "Creating an empty file in its place: Spark fails on it, and a copied delta of another "
            "version gives wrong sums.",
            "Switching checks of the state store off: no switch brings the rows back.",
        ),
        (
            "Put the file back from a backup, or from the storage's versions.",
            "If a lifecycle rule removes old files from the checkpoint, end that first.",
            "If the query is new code over an old checkpoint: take back the added operator.",
        ),
        conditions=(f"{_LOAD}.CANNOT_READ_DELTA_FILE_NOT_EXISTS",),
        fragments=(
            "Error reading delta file <path>",
            "FileNotFoundException: File <path>/state/#/#/#.delta does not exist",
            "/state/#/#/#.delta does not exist",
            *_gone("#.delta"),
        ),
        codes=("HF2221", "HF2238"),
    ),
    Page(
        "state-snapshot-missing",
        "a snapshot of the state is missing",
        "A version was to be read from its snapshot alone and that file is missing: maintenance "
        "of another run removed it, it was never written, or the copy of the checkpoint is "
        "partial.",
        ("Trying other batches until one works, and treating its rows as the current state.",),
        (
            "Put the file back from a backup.",
            "For Spark's state reader: leave `snapshotStartBatchId` out, or name a batch whose "
            "snapshot exists (`holdfast inspect` shows the versions that are kept).",
        ),
        conditions=(f"{_LOAD}.CANNOT_READ_MISSING_SNAPSHOT_FILE",),
        fragments=(
            "Error reading snapshot file … does not exist",
            "/state/#/#/#.snapshot does not exist",
            *_gone("#.snapshot"),
        ),
        codes=("HF2221", "HF2238"),
    ),
    Page(
        "state-file-missing-rocksdb",
        "a RocksDB snapshot or changelog is missing",
        "The version that the last commit refers to has neither a zip nor a changelog with that "
        "name. Files were removed, several commits were lost so that the ids of another version "
        "are used, or the provider was changed.",
        (
            "Spark's text says to clear the checkpoint location: with it go the position and the "
            "identity that the sink knows.",
            "Renaming a neighbour version to the missing name.",
        ),
        (
            "Put the missing file back from a backup; `holdfast inspect` names it.",
            "Undo changes of the state store provider and of `checkpointFormatVersion`.",
            "If a stateful operator was added in code, take it back.",
        ),
        conditions=(f"{_LOAD}.CANNOT_READ_STREAMING_STATE_FILE",),
        fragments=(
            "/state/#/#/#.changelog does not exist",
            "/state/#/#/#.zip does not exist",
            "/state/#/#/#_<id>.changelog does not exist",
            "/state/#/#/#_<id>.zip does not exist",
            *_gone("#.changelog"),
            *_gone("#.zip"),
            *_gone("#_<id>.changelog"),
            *_gone("#_<id>.zip"),
            "Error reading streaming state file of <path>",
        ),
        codes=("HF2221", "HF2233"),
    ),
    Page(
        "state-folder-missing",
        "the directory of the state is empty or missing",
        "The query has stateful operators and its checkpoint has batches, but `state/` is gone: a "
        "clean-up job, a copy that left it out, or an operator was added to a query that had none.",
        (
            "Making an empty directory: every sum, window and duplicate key starts empty while "
            "the source continues from its old position.",
            "Continuing with the schema check disabled: there is nothing to check against.",
        ),
        (
            "Put `state/` back as a whole from one backup; files of different batches do not mix.",
            "If the operator is new, run the new query beside the old one, with its own checkpoint "
            "and its own output.",
        ),
        conditions=("STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY",),
        codes=("HF2221",),
    ),
    Page(
        "state-file-cut",
        "a state file ends too early",
        "A delta or snapshot has no bytes, or stops in its middle: full disk, a broken upload or a "
        "partial copy. Spark says only that a stream ended.",
        (
            "Cutting other files to match; each version is built from all before it.",
            "Retrying with more memory: the bytes are not there.",
        ),
        (
            "`holdfast inspect CHECKPOINT` lists state files by size and names the empty ones.",
            "Put that file back from a backup.",
        ),
        fragments=(
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … java.io.EOFException",
            "java.io.EOFException … HDFSBackedStateStoreProvider",
            "EOFException: Stream ended prematurely … state",
            "Premature EOF reached … state",
        ),
        codes=("HF2239", "HF2111"),
    ),
    Page(
        "state-file-corrupted",
        "the bytes of a state file cannot be unpacked",
        "The file has its length, but its compressed content is broken: a flipped bit, garbage, or "
        "another codec than the pinned one. With zstd a flipped bit was seen to pass unnoticed and "
        "give a wrong sum.",
        (
            "Changing `spark.sql.streaming.stateStore.compression.codec` in the offsets: it "
            "describes how the files were written.",
            "Skipping the file: the versions after it build upon it.",
        ),
        (
            "`holdfast inspect --verify CHECKPOINT` compares each file with its checksums.",
            "Put the damaged file back from a backup.",
        ),
        fragments=(
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … java.io.IOException: Stream is corrupted",
            "java.io.IOException: Stream is corrupted … HDFSBackedStateStoreProvider",
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … net.jpountz.lz# … Exception",
            "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED … org.apache.hadoop.fs.ChecksumException",
        ),
        codes=("HF2111", "HF2114"),
    ),
    Page(
        "state-key-size",
        "a size inside a state file is impossible",
        "Spark read the length of a key or a value and got an impossible number: the bytes before "
        "it are damaged, or the file was written with other settings.",
        (
            "Turning off `formatValidation`: it is not that check that fails.",
            "Deleting this version so that an older one is loaded, while the source has moved on.",
        ),
        (
            "`holdfast inspect --verify CHECKPOINT` finds the file whose checksum fails.",
            "Put it back from a backup.",
        ),
        conditions=(
            f"{_LOAD}.CANNOT_READ_DELTA_FILE_KEY_SIZE",
            f"{_LOAD}.CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE",
            f"{_LOAD}.CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE",
        ),
        fragments=("key size cannot be … HDFSBackedStateStoreProvider", ": key size cannot be #"),
        codes=("HF2111", "HF2114"),
    ),
    Page(
        "state-file-checksum",
        "a state file does not match the checksum that Spark wrote with it",
        "Spark 4.1 and later writes a small `.crc` next to state files and compares. They differ: "
        "the file was changed after it was written. On 4.1 with state format 1 a retried task can "
        "also leave a pair that never belonged together.",
        (
            "Removing the `.crc` so that the check is skipped: Spark then loads the file as it is.",
            "`spark.sql.streaming.checkpoint.fileChecksum.enabled=false` as a cure; only where the "
            "bytes were proven right by a second copy is the check the culprit.",
        ),
        (
            "Compare the file with the one in a backup; put the right one back with its `.crc`.",
            "On 4.1 with state format 1: upgrade, later releases do not write these there.",
        ),
        conditions=("CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED",),
        codes=(
            "HF2114",
            "HF2113",
            "HF2312",
        ),
    ),
    Page(
        "state-partition-beyond-ids",
        "a commit has state ids for fewer partitions than the settings pin",
        "With state format 2 a commit lists one id for each partition. The pinned "
        "`spark.sql.shuffle.partitions` is larger than that list: somebody edited it.",
        ("Editing the number once more without a copy: smaller than the state is silent loss.",),
        ("Put the newest offsets entry back byte-identical from a backup.",),
        fragments=("ArrayIndexOutOfBoundsException: Index # out of bounds … StateStore",),
        codes=("HF2233", "HF2222", "HF2220"),
    ),
    Page(
        "state-version-negative",
        "a negative version of the state was requested",
        "The batch from which the version is computed is not one: a batch id in an option is "
        "negative or before the first kept batch, or the logs were renumbered.",
        ("Trying numbers until one loads: old versions hold old sums.",),
        ("Name a batch between the first and the last kept one; `holdfast inspect` shows both.",),
        conditions=(f"{_LOAD}.UNEXPECTED_VERSION",),
        codes=("HF2204", "HF2213"),
    ),
    Page(
        "state-commit-failed",
        "a version of the state could not be written",
        "The task ran its rows and failed when it stored the new state; the batch has no "
        "commit and "
        "will be run again. Frequent causes: a full or slow storage, two drivers, or "
        "`checkpointFormatVersion` switched from 1 to 2 on an existing checkpoint with Spark 4.2.",
        ("Removing state files of the failed version: Spark overwrites or ignores them itself.",),
        (
            "Read the innermost cause; if the format was switched, switch it back.",
            "Check space and permissions, make sure that one driver runs, and start again: the "
            "batch is re-run with its recorded offsets.",
        ),
        conditions=("CANNOT_WRITE_STATE_STORE",),
        fragments=("Error committing version # into HDFSStateStore",),
        codes=("HF2232", "HF2233"),
    ),
    Page(
        "state-commit-validation",
        "not every partition stored its state",
        "Spark counted the partitions that committed and some are missing: the batch was not read "
        "to its end. In foreachBatch `show`, `limit`, `take`, `isEmpty` or an early "
        "return do that.",
        (
            "`spark.sql.streaming.stateStore.commitValidation.enabled=false`: the missing delta is "
            "then met one batch later, when nothing can be re-run.",
        ),
        (
            "Use the whole batch in foreachBatch: persist it first, write it once, unpersist; then "
            "start again, the batch is re-run.",
        ),
        conditions=("STATE_STORE_COMMIT_VALIDATION_FAILED",),
        unseen="it is in what the function does with the batch",
    ),
    Page(
        "state-base-id-differs",
        "a partition built its new state on a different base than the driver knows",
        "With state format 2 every version has an id. A task wrote upon a base that the "
        "last commit "
        "does not name: a task of a former attempt, or of a second driver, was still at work.",
        ("Editing the ids in the commit so that they fit.",),
        (
            "Make sure that no second driver or left-over executor lives, then start again: the "
            "uncommitted batch is re-run from the committed base.",
        ),
        conditions=("STATE_STORE_BASE_CHECKPOINT_ID_MISMATCH",),
        codes=("HF2233",),
    ),
    Page(
        "state-checkpoint-ids",
        "the state store provider does not support state checkpoint format 2",
        "`checkpointFormatVersion=2` needs RocksDB; the provider in use is the HDFS-backed one, "
        "which is the default and is pinned by the checkpoint.",
        (
            "Changing the provider in the session: the pinned one wins, silently.",
            "Changing it in the offsets: RocksDB cannot read what is there.",
        ),
        (
            "Set `spark.sql.streaming.stateStore.checkpointFormatVersion` back to 1 for this "
            "query.",
            "Choose RocksDB and format 2 only for a query that has no checkpoint yet.",
        ),
        conditions=("STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED",),
        fragments=('stateStoreCheckpointFormatVersion()" because the return value of … is null',),
        codes=("HF2220", "HF2242"),
    ),
    Page(
        "state-provider-class",
        "the pinned state store provider is not a class that Spark can load",
        "The newest offsets entry names a provider that is not on the class path: it came with a "
        "library that this deployment lacks, or the entry was edited.",
        (
            (
                "Writing another provider's name into the offsets: it cannot read files of another "
                "provider."
            ),
        ),
        (
            "Add the library that the former deployment had.",
            "If the entry was edited, put it back byte-identical from a backup.",
        ),
        conditions=("STATE_STORE_INVALID_PROVIDER",),
        fragments=(
            "java.lang.ClassNotFoundException: … StateStoreProvider$.create",
            "cannot be cast to class … streaming.state.StateStoreProvider",
        ),
        codes=("HF2242", "HF2220"),
    ),
)
