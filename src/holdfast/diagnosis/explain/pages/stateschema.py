"""Pages: the schema of the state against the code, and what an operator may become."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_SCHEMA_CHECK = "`spark.sql.streaming.stateStore.stateSchemaCheck=false`, which Spark's text offers"

PAGES: tuple[Page, ...] = (
    Page(
        "state-key-schema",
        "the keys of the state do not have the type that the code now uses",
        "A grouping, join or de-duplication key was added, removed or changed its type. The state "
        "on disk is keyed by the old columns.",
        (
            f"{_SCHEMA_CHECK}: keys of the old form are then read as the new one, groups are never "
            "found again and rows are counted twice or not at all.",
            "Reordering columns of equal types until the check passes.",
        ),
        (
            "Take the change of the keys back for this checkpoint.",
            "Run the changed query as a new one: own checkpoint, own output, starting from the "
            "offsets that the old one reached (`holdfast inspect` shows them).",
        ),
        conditions=("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",),
        fragments=("Provided schema doesn't match to the schema for existing state",),
        codes=("HF2240", "HF2115"),
    ),
    Page(
        "state-value-schema",
        "the values of the state do not have the type that the code now uses",
        "An aggregate was added, removed or changed its type; a join keeps other columns, which a "
        "projection far above it can cause; or a column became nullable.",
        (
            f"{_SCHEMA_CHECK}: bytes of one buffer are read as another, without an error.",
            "Swapping aggregates of equal types instead: nothing is noticed, sums become maxima.",
        ),
        (
            "Take the change back, also column pruning above a join.",
            "If only nullability differs after an upgrade, cast the column so that it is as "
            "before.",
            "Else run the changed query beside the old one with its own checkpoint and output.",
        ),
        conditions=("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",),
        codes=("HF2240", "HF2115"),
    ),
    Page(
        "operators-changed",
        "the stateful operators are not those of the checkpoint",
        "The checkpoint records the name of each stateful operator by number. The code now has a "
        "different operator there, one more or one less. Spark 3.5 does not check this and "
        "continues on the wrong state.",
        (
            "Removing `state/*/_metadata` so that the comparison is skipped: the wrong operator "
            "then reads the state.",
            "Downgrading to 3.5, where nothing is checked.",
        ),
        (
            "Bring the operators back in their number, order and kind.",
            "Run the changed query as a new one with its own checkpoint and output.",
        ),
        conditions=("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",),
        codes=("HF2223", "HF2224"),
    ),
    Page(
        "join-state-format-one",
        "an outer join starts over join state of format 1",
        "Spark 2 kept rows of a stream-stream join without a mark whether they were matched. An "
        "outer join over them gives wrong rows, so every release since 3.0 refuses it when it "
        "plans the batch (SPARK-26154). The sink was not called.",
        (
            "Discarding the checkpoint, as Spark's message suggests, and keeping the output: what "
            "is read again is delivered again, and a file sink discards new batches.",
            "Editing the format in the offsets entry: the rows on disk stay those of format 1.",
        ),
        (
            "If the join was an inner one before: take the change back for this checkpoint.",
            "Else run the query as a new one with its own checkpoint and output, starting from the "
            "offsets that the old one reached (`holdfast inspect` shows them).",
        ),
        fragments=("stream-stream … join with state format version #",),
        codes=("HF2306",),
    ),
    Page(
        "join-schema-writer",
        "Spark 4.1 or later cannot write the schema of join state in format 1",
        "The state of a stream-stream join is read in format 1, because Spark 2 wrote it or "
        "`spark.sql.streaming.join.stateFormatVersion` is 1, and has no schema file yet. Spark 4.1 "
        "and later want to write one and have no writer for that version. The sink was not called.",
        (
            "Setting `spark.sql.streaming.join.stateFormatVersion` to 2 for an old checkpoint: the "
            "format is taken from the newest offsets entry, and an entry without it means 1.",
            "Setting `spark.testing`, which has the missing writer: it changes much else in Spark.",
        ),
        (
            "A new query: take `spark.sql.streaming.join.stateFormatVersion` out of its settings.",
            "An old checkpoint: start it with Spark 4.0 or earlier, if the join is an inner one.",
            "Or run the query as a new one with its own checkpoint and output.",
        ),
        fragments=("Unsupported schema writer version: #",),
        codes=("HF2306", "HF2240"),
    ),
    Page(
        "state-schema-unreadable",
        "the file with the schema of the state cannot be read",
        "`_metadata/schema` below the first partition, or a file of `_stateSchema`, is empty or "
        "cut. Spark reports the end of a file and no name.",
        (
            "Removing it: Spark then writes a new one from the present code, and the two are no "
            "longer compared.",
        ),
        (
            "Put the file back byte-identical from a backup.",
            "`holdfast inspect CHECKPOINT` names the operator that it belongs to.",
        ),
        fragments=(
            "java.io.EOFException … StateSchemaCompatibilityChecker",
            "java.io.EOFException … SchemaHelper$SchemaReader",
            "java.io.EOFException … SchemaV#Reader",
        ),
        codes=("HF2115", "HF2101"),
    ),
    Page(
        "tws-schema-evolution",
        "the new value of a state variable cannot be evolved from the stored one",
        "With Avro encoding, transformWithState may add nullable fields, widen or drop some. This "
        "change is none of these.",
        (
            "Changing the encoding back to unsaferow: it is pinned, and stored rows are Avro.",
            "Editing schema files: rows carry the number of the schema that they were "
            "written with.",
        ),
        (
            "Add a new nullable field beside the old one and convert in code.",
            "Or give the variable a new name: it starts empty, the old one is kept aside.",
        ),
        conditions=("STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION",),
        codes=("HF2226",),
    ),
    Page(
        "tws-too-many-evolutions",
        "a state variable's schema was changed too often",
        "Spark keeps every schema that rows may still be stored with and limits how many there may "
        "be for one variable.",
        ("Removing old schema files: rows that were written with them become unreadable.",),
        (
            "Raise `spark.sql.streaming.stateStore.valueStateSchemaEvolutionThreshold` knowingly.",
            "Or move on to a new variable with the present schema.",
        ),
        conditions=("STATE_STORE_VALUE_SCHEMA_EVOLUTION_THRESHOLD_EXCEEDED",),
        codes=("HF2226",),
    ),
    Page(
        "tws-too-many-schema-files",
        "the operator has more state schema files than allowed",
        "Each start with added or removed state variables writes a new schema file and none is "
        "ever removed; a loop of deployments or a generated variable name reaches the limit.",
        ("Clearing `_stateSchema`: the operator's metadata names those files.",),
        (
            "Keep variable names stable from start to start.",
            "Raise `spark.sql.streaming.stateStore.maxNumStateSchemaFiles` for the time being.",
        ),
        conditions=("STATE_STORE_STATE_SCHEMA_FILES_THRESHOLD_EXCEEDED",),
        codes=("HF2226", "HF2225"),
    ),
    Page(
        "tws-variable-kind",
        "a state variable became another kind",
        "A value, list or map state of transformWithState has a name that is of another kind in "
        "the checkpoint. Their rows are stored in different ways.",
        ("Switching kinds by editing operator metadata.",),
        ("Give the new variable a new name and read the old one in code until it is empty.",),
        conditions=("STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE",),
        codes=("HF2223",),
    ),
    Page(
        "tws-setting-changed",
        "time mode or output mode of transformWithState was changed",
        "Both are recorded with the operator, since timers and emitted rows depend upon them.",
        (
            "Editing the operator's metadata to the new mode: timers stay of the old kind.",
            "For other operators Spark does not look at the output mode at all: that it starts "
            "proves nothing.",
        ),
        ("Set the mode back to the recorded one, or run the new one as a query of its own.",),
        conditions=("STATE_STORE_INVALID_CONFIG_AFTER_RESTART",),
        codes=("HF2223",),
    ),
    Page(
        "tws-schema-nullable",
        "a field of a state variable is not nullable, which Avro encoding needs",
        "Fields may be added later, and older rows lack them: each one must be allowed to be null.",
        ("Turning Avro off after the first run: the encoding is pinned.",),
        ("Declare every field of the variable's schema as nullable.",),
        conditions=("TRANSFORM_WITH_STATE_SCHEMA_MUST_BE_NULLABLE",),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "state-column-family",
        "a column family of RocksDB is missing or has another schema",
        "State variables live in column families. The query needs one that the checkpoint does "
        "not have, or has with a different schema: code of another version, or a moved checkpoint "
        "whose schema files were not found.",
        ("Creating empty files for it.",),
        (
            "Start the code that wrote the checkpoint; compare the names of its variables.",
            "If the folder was moved, move it back to its first location.",
        ),
        conditions=(
            "STATE_STORE_COLUMN_FAMILY_SCHEMA_INCOMPATIBLE",
            "STATE_STORE_UNSUPPORTED_OPERATION_ON_MISSING_COLUMN_FAMILY",
            "STATE_STORE_UNKNOWN_INTERNAL_COLUMN_FAMILY",
        ),
        codes=("HF2225", "HF2226"),
    ),
    Page(
        "state-collated-key",
        "a key has a collation under which different bytes are equal",
        "State finds keys by their bytes. With a case-blind collation `A` and `a` are equal but "
        "stored apart, so Spark refuses.",
        ("Switching the check off: groups fall apart silently.",),
        ("Group by an explicitly normalised column, such as `lower(name)`.",),
        conditions=("STATE_STORE_UNSUPPORTED_OPERATION_BINARY_INEQUALITY",),
        unseen="it is refused when the query is planned",
    ),
)
