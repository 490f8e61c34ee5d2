"""Pages: rows inside of the state, what a stateful processor does with them, and Spark's own
reader of state with its STDS errors."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_LOAD = "CANNOT_LOAD_STATE_STORE"

ROW_PAGES: tuple[Page, ...] = (
    Page(
        "state-row-format",
        "a row in the state has not the structure that the schema says",
        "Spark looks at the first row that it loads. Its bytes do not fit: keys or aggregates were "
        "changed in the code (3.5 notices it only here, in whichever partition comes first), a "
        "pinned setting in the newest offsets was lost or edited, another Spark wrote the state, "
        "or the file is damaged.",
        (
            "`spark.sql.streaming.stateStore.formatValidation.enabled=false`: the same bytes are "
            "then used, with random numbers for values.",
            "Spark's text speaks of a restart without checkpoint; the sink then gets all again.",
        ),
        (
            "`holdfast inspect CHECKPOINT` shows pinned settings that are missing or changed; put "
            "the newest offsets entry back byte-identical from a backup.",
            "Take back changes of grouping keys and aggregates.",
            "Start with the Spark that wrote the state.",
        ),
        conditions=(
            f"{_LOAD}.KEY_ROW_FORMAT_VALIDATION_FAILURE",
            f"{_LOAD}.VALUE_ROW_FORMAT_VALIDATION_FAILURE",
            "STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE",
            "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE",
        ),
        fragments=("The streaming query failed by state format invalidation",),
        codes=("HF2220", "HF2235", "HF2237"),
    ),
    Page(
        "state-row-checksum",
        "a row in the state does not match its own checksum",
        "With `rowChecksum` on (4.2 and later) each row carries a checksum. This one differs: the "
        "memory or the disk of an executor changed it.",
        ("Switching row checksums off: the setting is pinned, and the row is still wrong.",),
        (
            "Take the executor or disk out of service, and start again: its rows are read again.",
            "If it comes back, the stored file is hit: put it back from a backup.",
        ),
        conditions=("STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED",),
        codes=("HF2111", "HF2114"),
    ),
    Page(
        "join-state-inconsistent",
        "the two halves of a join's state contradict each other",
        "A stream-stream join keeps, for each key, a count and the rows. A row that is counted is "
        "not there: files of different batches were mixed, or an old bug left a hole.",
        (
            "Enabling the setting that skips nulls hides matches that are lost for good; use it "
            "only after the loss was measured and accepted.",
        ),
        (
            "If files were copied lately, put the whole `state/` back from one backup.",
            "Keep a copy of the folder before anything else is tried.",
        ),
        conditions=("STREAM_STREAM_JOIN_INCONSISTENT_STATE",),
        codes=("HF2238", "HF2243"),
    ),
    Page(
        "state-null-value",
        "null or an empty list was put into a state variable",
        "A state variable holds values; null cannot be stored, and neither can an empty list.",
        ("Catching the error in the function: the variable then keeps its former value.",),
        ("Call the variable's `clear()` in your function where there is no value.",),
        conditions=("ILLEGAL_STATE_STORE_VALUE",),
        unseen="it is in the code of the stateful processor",
    ),
    Page(
        "state-variable-twice",
        "two state variables have one name",
        "Each variable of a stateful processor needs its own name: rows are found by it.",
        ("Making the name unique with a time or a random number: each start would be empty.",),
        ("Give each variable one constant name.",),
        conditions=("STATEFUL_PROCESSOR_DUPLICATE_STATE_VARIABLE_DEFINED",),
        fragments=(
            "Error initializing value state: Value state … already exists",
            "Error initializing list state: List state … already exists",
            "Error initializing map state: Map state … already exists",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "state-time-to-live",
        "a time to live or a timer does not fit the time mode",
        "TTL works with processing time only and must be above zero; timers need a time mode.",
        ("Changing the time mode of a query that has a checkpoint: it is recorded.",),
        ("Choose the time mode before the first start; then a positive duration.",),
        conditions=(
            "STATEFUL_PROCESSOR_INCORRECT_TIME_MODE_TO_ASSIGN_TTL",
            "STATEFUL_PROCESSOR_TTL_DURATION_MUST_BE_POSITIVE",
            "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_TIME_MODE",
            "STATEFUL_PROCESSOR_UNKNOWN_TIME_MODE",
        ),
        unseen="it is in the code of the stateful processor",
    ),
    Page(
        "state-handle-misused",
        "a stateful processor used its state outside of its turn",
        "Variables may be created in `init` and used while rows or timers are handled, not in the "
        "constructor, not in threads, not afterwards.",
        ("Keeping the handle in a global variable.",),
        ("Create variables in `init`, and use them only inside the processor's own methods.",),
        conditions=(
            "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
            "STATE_STORE_HANDLE_NOT_INITIALIZED",
        ),
        unseen="it is in the code of the stateful processor",
    ),
    Page(
        "state-timeout-settings",
        "a group's timeout is used in a way that the query did not declare",
        "A duration needs the processing-time timeout, a timestamp the event-time timeout with a "
        "watermark; neither works without being declared.",
        ("Setting both and catching the error.",),
        ("Declare the timeout that the function uses, with a watermark for event time.",),
        conditions=(
            "MISSING_TIMEOUT_CONFIGURATION",
            "_LEGACY_ERROR_TEMP_2203",
            "_LEGACY_ERROR_TEMP_2204",
            "_LEGACY_ERROR_TEMP_2205",
        ),
        fragments=(
            "Cannot set timeout duration without enabling processing time timeout",
            "Cannot set timeout timestamp without enabling event time timeout",
            "Cannot get event time watermark timestamp without setting watermark",
        ),
        unseen="it is in the code of the function",
    ),
    Page(
        "late-rows-emitted",
        "an operator emitted rows older than the watermark",
        "A stateful processor emitted a row whose event time is before the watermark; a second "
        "stateful operator after it would drop that row silently.",
        ("Switching the check off: the rows then vanish downstream without a word.",),
        (
            "Emit a row with an event time at or after the watermark, or chain no further "
            "stateful operator behind it.",
        ),
        conditions=("EMITTING_ROWS_OLDER_THAN_WATERMARK_NOT_ALLOWED",),
        unseen="it depends upon the rows",
    ),
    Page(
        "stateful-function-failed",
        "a function over state raised an error",
        "The user's function of flatMapGroupsWithState or transformWithState failed; its own "
        "error follows below. No commit was written, the state of the batch is discarded.",
        ("Catching everything inside: rows are then lost while the batch counts as done.",),
        (
            "Mend the function for this input, keep the operator and its state schema as they are, "
            "and start again: the batch is re-run with its recorded offsets.",
        ),
        conditions=(
            "FLATMAPGROUPSWITHSTATE_USER_FUNCTION_ERROR",
            "TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR",
        ),
        fragments=(
            "An exception was thrown from the Python worker: … in handleInputRows",
            "An exception was thrown from the Python worker: … in handleExpiredTimer",
        ),
        unseen="it is in the user's function and the rows",
    ),
)


_OPTIONS = "it is in the options of the read"

READER_PAGES: tuple[Page, ...] = (
    Page(
        "state-reader-no-commit",
        "the state reader found no committed batch",
        "The location is not a checkpoint's root, or the query has never finished a batch. Spark "
        "before 4.3 even creates directories at a path that it only reads.",
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
        "the state reader cannot find the offsets of the batch",
        "The requested batch was purged, never existed, or its plan was lost. The reader needs it "
        "for the settings that the state was written with.",
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
        "an option of the state reader has an invalid value",
        "A negative or empty value, an operator or store that the checkpoint does not have, or an "
        "end before its start.",
        ("Guessing operator numbers.",),
        ("`holdfast inspect` lists operators, stores and kept batches to choose from.",),
        conditions=("STDS_INVALID_OPTION_VALUE",),
        unseen=_OPTIONS,
    ),
    Page(
        "state-reader-schema",
        "the state reader cannot find the schema of this state",
        "The operator has no schema file: the query is stateless, the number is wrong, the file "
        "was lost, or a moved checkpoint still names it at its old place.",
        (
            "Running the query only to have the file written again: if its code changed "
            "meanwhile, the new file describes other rows than those that are stored.",
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
        "the state reader cannot read the description of the operators",
        "`state/<n>/_metadata` is missing or damaged; Spark 3.5 writes none.",
        ("Copying the metadata of another query that looks similar.",),
        ("Put it back from a backup; for a 3.5 checkpoint let 4.x commit one batch.",),
        conditions=("STDS_FAILED_TO_READ_OPERATOR_METADATA",),
        codes=("HF2240", "HF2223"),
    ),
    Page(
        "state-reader-no-partition",
        "the state reader found no partition",
        "The operator's directory has no numbered directory in it: a partial copy, or a wrong "
        "operator.",
        (
            (
                "Making empty partition directories: they read as no rows, which looks like a "
                "valid result."
            ),
        ),
        ("Compare with `holdfast inspect`; put the folders back from a backup.",),
        conditions=("STDS_NO_PARTITION_DISCOVERED_IN_STATE_STORE",),
        codes=("HF2221",),
    ),
    Page(
        "state-reader-mixed-formats",
        "the requested batches have different state checkpoint formats",
        "Between the two batches the query went from format 1 to 2; one read cannot span both.",
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
        "this provider cannot replay state in single steps",
        "Reading from a snapshot on, or a change feed, needs a provider that can; custom "
        "providers mostly cannot.",
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
