"""Pages: Spark's own reader of state, `format("statestore")`, and its STDS errors."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

_OPTIONS = "it lies in the options of the read"

PAGES: tuple[Page, ...] = (
    Page(
        "state-reader-no-commit",
        "the state reader found no committed batch",
        "The location is not a checkpoint's root, or the query has never finished a batch. Spark "
        "before 4.3 even creates folders in a place that it only reads.",
        (
            "Pointing it at `state/` or `commits/`: it wants the root.",
            "Reading the original with 4.0 to 4.2: use a copy.",
        ),
        ("Check the path with `holdfast inspect PATH`; let the query commit one batch.",),
        conditions=("STDS_COMMITTED_BATCH_UNAVAILABLE",),
        codes=("HF2001",),
    ),
    Page(
        "state-reader-offsets-missing",
        "the state reader can't find the offsets of the batch",
        "The asked batch was purged, never existed, or its plan was lost. The reader needs it for "
        "the settings that the state was written with.",
        ("Copying another batch's offsets under that id.",),
        (
            "Ask for a batch that `holdfast inspect` shows as kept; the default is the "
            "newest commit.",
        ),
        conditions=("STDS_OFFSET_LOG_UNAVAILABLE",),
        codes=("HF2203", "HF2204"),
    ),
    Page(
        "state-reader-settings-missing",
        "the offsets of the batch hold no settings",
        "A very old Spark wrote them, or the entry's second line is damaged.",
        ("Writing the line by hand: the wrong provider or codec misreads every row.",),
        ("Run the query once more with a recent Spark, or read another batch.",),
        conditions=("STDS_OFFSET_METADATA_LOG_UNAVAILABLE",),
        codes=("HF2237",),
    ),
    Page(
        "state-reader-conflict",
        "two options of the state reader exclude each other",
        "`joinSide` with `storeName`, or a change feed with a snapshot start, name "
        "different things "
        "to read.",
        ("Giving more options until something comes back.",),
        ("Keep the one that you mean; for a join `joinSide` is enough.",),
        conditions=("STDS_CONFLICT_OPTIONS",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-option-missing",
        "an option of the state reader is missing",
        "Some options come in pairs: `readChangeFeed` needs `changeStartBatchId`, "
        "`snapshotStartBatchId` needs `snapshotPartitionId`, and the path is always needed.",
        ("Starting the change feed at batch 0 when early versions were purged.",),
        ("Add the named option, with a batch that is still kept.",),
        conditions=("STDS_REQUIRED_OPTION_UNSPECIFIED",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-option-value",
        "an option of the state reader has a value that can't be",
        "A negative or empty value, an operator or store that the checkpoint does not have, or an "
        "end before its start.",
        ("Guessing operator numbers.",),
        ("`holdfast inspect` lists operators, stores and kept batches to choose from.",),
        conditions=("STDS_INVALID_OPTION_VALUE",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-schema",
        "the state reader can't find the schema of this state",
        "The operator has no schema file: the query is stateless, the number is wrong, the file "
        "was lost, or a moved checkpoint still names it at its old place.",
        (
            "Running the query only to have the file written anew: if its code changed meanwhile, "
            "the new file describes other rows than those that are stored.",
        ),
        (
            "`holdfast inspect` shows which operators have a schema.",
            "Put `_metadata/schema` or `_stateSchema` back from a backup.",
        ),
        conditions=("STDS_FAILED_TO_READ_STATE_SCHEMA",),
        codes=("HF2240", "HF2226", "HF2225"),
    ),
    Page(
        "state-reader-operator-metadata",
        "the state reader can't read the description of the operators",
        "`state/<n>/_metadata` is missing or damaged; Spark 3.5 writes none.",
        ("Copying the metadata of another query that looks alike.",),
        ("Put it back from a backup; for a 3.5 checkpoint let 4.x commit one batch.",),
        conditions=("STDS_FAILED_TO_READ_OPERATOR_METADATA",),
        codes=("HF2240", "HF2223"),
    ),
    Page(
        "state-reader-no-partition",
        "the state reader found no partition",
        "The operator's folder has no numbered folder in it: a partial copy, or a wrong operator.",
        ("Making empty partition folders: they read as no rows, which looks like an answer.",),
        ("Compare with `holdfast inspect`; put the folders back from a backup.",),
        conditions=("STDS_NO_PARTITION_DISCOVERED_IN_STATE_STORE",),
        codes=("HF2221",),
    ),
    Page(
        "state-reader-mixed-formats",
        "the asked batches have different state checkpoint formats",
        "Between the two batches the query went from format 1 to 2; one read can't span both.",
        ("Setting the session's format to either: only one half is readable then.",),
        ("Read the two ranges apart, each with its own `checkpointFormatVersion`.",),
        conditions=("STDS_MIXED_CHECKPOINT_FORMAT_VERSIONS_NOT_SUPPORTED",),
        codes=("HF2232",),
    ),
    Page(
        "state-reader-snapshot-partition",
        "the partition for a snapshot read does not exist",
        "`snapshotPartitionId` names a partition that the operator does not have.",
        ("Counting partitions by the session's settings: the pinned number decides.",),
        ("Choose one below the number of partitions that `holdfast inspect` shows.",),
        conditions=("CANNOT_LOAD_STATE_STORE.SNAPSHOT_PARTITION_ID_NOT_FOUND",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-replay",
        "this provider can't replay state in single steps",
        "Reading from a snapshot on, or a change feed, needs a provider that can; custom ones "
        "mostly can't.",
        ("Swapping the provider's class name to read the files.",),
        ("Read the state of a whole batch instead, without `snapshotStartBatchId`.",),
        conditions=("STATE_STORE_PROVIDER_DOES_NOT_SUPPORT_FINE_GRAINED_STATE_REPLAY",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-internal",
        "the state reader failed inside",
        "Spark calls it a bug of its own. The query itself does not use this reader.",
        ("Concluding that the checkpoint is damaged, or acting upon it.",),
        ("`holdfast inspect --verify` looks at the same files without Spark; report the trace.",),
        conditions=("STDS_INTERNAL_ERROR",),
        unseen="it is Spark's own error",
    ),
)
