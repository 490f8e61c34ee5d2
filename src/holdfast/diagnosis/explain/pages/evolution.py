"""Pages: named sources and sinks (query evolution), repartitioning, real-time mode."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_EVOLUTION = "STREAMING_QUERY_EVOLUTION_ERROR"
_REPARTITION = "STATE_REPARTITION_INVALID_CHECKPOINT"

PAGES: tuple[Page, ...] = (
    Page(
        "source-naming-is-off",
        "a source has a name but naming is switched off",
        "`readStream.name(…)` needs `spark.sql.streaming.queryEvolution.enableSourceEvolution`.",
        (
            "Switching it on for a query that already has a checkpoint: its offsets are stored by "
            "position and stay so.",
        ),
        (
            "For an existing checkpoint take the name away again.",
            "For a new query set the option, and keep it set for ever.",
        ),
        conditions=(f"{_EVOLUTION}.SOURCE_NAMING_NOT_SUPPORTED",),
        codes=("HF2232",),
    ),
    Page(
        "source-without-name",
        "naming is switched on and a source has no name",
        "With source evolution every source needs a name, because offsets are stored under it.",
        ("Switching evolution off again: a checkpoint with names cannot be used without it.",),
        ("Give each source a constant name; the same one as before if it was read before.",),
        conditions=(
            f"{_EVOLUTION}.UNNAMED_STREAMING_SOURCES_WITH_ENFORCEMENT",
            f"{_EVOLUTION}.UNNAMED_STREAMING_SINKS_WITH_ENFORCEMENT",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "source-names-twice",
        "two sources have one name",
        "A name identifies one entry in the offsets; two readers with the same name would "
        "overwrite each other.",
        ("Renaming the older one: under a new name a source is read from its beginning.",),
        ("Keep the name of the source that was there first, and give the other one a new name.",),
        conditions=(f"{_EVOLUTION}.DUPLICATE_SOURCE_NAMES",),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "source-name-characters",
        "a name of a source or sink has a character that is not allowed",
        "Names become directory names: letters, digits and underscores only.",
        ("Changing the name of one that already runs: it counts as a new one, from scratch.",),
        ("Write the name with letters, digits and `_`.",),
        conditions=(
            f"{_EVOLUTION}.INVALID_SOURCE_NAME",
            f"{_EVOLUTION}.INVALID_SINK_NAME",
            "INVALID_STREAMING_SOURCE_NAME",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "evolution-on-existing-checkpoint",
        "source evolution was switched on over a checkpoint without names",
        "The offsets of this checkpoint are stored by position, version 1 of the log; names "
        "cannot be added afterwards.",
        ("Rewriting the offsets as version 2 by hand.",),
        (
            "Switch `enableSourceEvolution` off for this query.",
            "Use names in the next query that begins with an empty checkpoint.",
        ),
        conditions=(f"{_EVOLUTION}.CANNOT_ENABLE_ON_EXISTING_CHECKPOINT",),
        codes=("HF2232",),
    ),
    Page(
        "sources-should-be-named",
        "a checkpoint with named sources was started without naming",
        "Its offsets are stored by name, and the session has source evolution off. Spark stops "
        "with a bare assertion and leaves directories `sources/0, 1, …` behind.",
        (
            "Renaming the directories under `sources/` to numbers.",
            "Turning the offsets into version 1.",
        ),
        (
            "Set `spark.sql.streaming.queryEvolution.enableSourceEvolution` to true again, with "
            "the names that the checkpoint holds (`holdfast inspect` lists them).",
        ),
        fragments=("All sources should be named at this point",),
        codes=("HF2229",),
    ),
    Page(
        "sink-evolution-switched-off",
        "commits hold named sinks and the session no longer writes them",
        "Sink evolution was on and is off now. Every start runs the batch into the sink and fails "
        "when it writes the commit: each retry delivers it again.",
        (
            "Restarting and hoping that it passes: each restart duplicates rows in a sink that "
            "does not know batch ids.",
        ),
        (
            "Stop the retries at once.",
            "Set `spark.sql.streaming.queryEvolution.enableSinkEvolution` to true again.",
        ),
        fragments=("VERSION_# commit log requires a non-empty sinkMetadataMap",),
        codes=("HF2245",),
    ),
    Page(
        "evolution-with-async-progress",
        "sink evolution and async progress tracking exclude each other",
        "Async tracking writes commits that cannot contain the record of sinks.",
        ("Switching sink evolution off on a checkpoint that already holds named sinks.",),
        ("Switch `asyncProgressTrackingEnabled` off.",),
        conditions=(f"{_EVOLUTION}.ASYNC_PROGRESS_TRACKING_NOT_SUPPORTED",),
        unseen="it is refused before anything is written",
    ),
    Page(
        "query-evolution",
        "the query was changed in a way that query evolution does not allow",
        "Spark compares named sources and sinks with those of the checkpoint and refuses this one.",
        ("Renaming until it starts: a new name begins from scratch, silently.",),
        (
            "Compare the names in code with `holdfast inspect CHECKPOINT`, and bring back those "
            "that are missing.",
        ),
        conditions=(_EVOLUTION,),
        codes=("HF2245",),
    ),
    Page(
        "unfinished-repartition",
        "the newest plan changes the number of partitions and was never committed",
        "The two newest offsets entries pin different numbers of partitions. Either an offline "
        "repartition was interrupted, or somebody edited the number.",
        (
            "`checkUnfinishedRepartitionOnRestart=false`: with fewer partitions than the "
            "state has, "
            "the rest of the state is silently never read (158 of 290 rows were left).",
            "Calling repartition on a checkpoint with HDFS-backed state: it writes the plan before "
            "it refuses, and that is how checkpoints get here.",
        ),
        (
            "With RocksDB: repeat the repartition to the same number and let it finish.",
            "If the number was edited: put the entry back byte-identical from a backup.",
            "Take a copy of the folder before either.",
        ),
        conditions=("STREAMING_UNFINISHED_REPARTITION_DETECTED",),
        codes=("HF2220", "HF2222"),
    ),
    Page(
        "repartition-refused",
        "Spark's offline repartition does not accept this checkpoint",
        "It needs RocksDB state, a committed last batch, operator metadata as 4.0 and later write "
        "it, and another number of partitions than now. The sub-class says what is missing.",
        (
            "`enforce_exactly_once_sink=False` over a failed last batch: its input is read again "
            "under the next id.",
            "Trying with HDFS-backed state: a plan is left that blocks the next start.",
        ),
        (
            "Let the query finish its last batch first; make a verified copy; then repartition.",
            "With HDFS-backed state keep the number of partitions as it is.",
        ),
        conditions=(
            _REPARTITION,
            "STATE_REPARTITION_INVALID_PARAMETER",
            "STATE_REWRITER_INVALID_CHECKPOINT",
        ),
        codes=("HF2220", "HF2240"),
    ),
    Page(
        "repartition-abandoned",
        "a repartition to another number was begun before and not finished",
        "The last plan is a repartition to one number and now another number is requested.",
        ("Requesting the old number to get rid of it: that is refused in the same way.",),
        (
            "Finish the first repartition with its own number, then do the next.",
            "If its provider is not supported, put the folder back from the copy made before it.",
        ),
        conditions=(f"{_REPARTITION}.LAST_BATCH_ABANDONED_REPARTITION",),
        codes=("HF2220",),
    ),
    Page(
        "real-time-mode",
        "real-time mode does not allow this query",
        "The real-time trigger supports few sources, sinks and operators, update mode and state "
        "checkpoint format 2 only. It writes a batch's plan at its end, so ids without a log "
        "entry are always planned again.",
        (
            "Bypassing the allow-list: operators outside of it lose or repeat rows on failure.",
            "Using it with a sink that counts on batch ids.",
        ),
        (
            "Use an ordinary trigger where exactly-once matters.",
            "Else change what the sub-class names before the first start.",
        ),
        conditions=(
            "STREAMING_REAL_TIME_MODE",
            "INVALID_STREAMING_REAL_TIME_MODE_TRIGGER_INTERVAL",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "pinned-partitions-unusable",
        "a pinned setting has a value that Spark cannot use",
        "Settings in the newest offsets entry override the session's. One of them is not a "
        "positive number: the file was edited.",
        (
            "Setting the value in the session: the pinned one wins.",
            "Guessing the number: fewer than the state has is silent loss.",
        ),
        (
            "Put the entry back byte-identical from a backup; the entry before it shows the value "
            "that was pinned.",
        ),
        fragments=(
            "spark.sql.shuffle.partitions should be int, but was",
            "in spark.sql.shuffle.partitions is invalid",
            "INVALID_CONF_VALUE … spark.sql.streaming.internal.stateStore.partitions",
            "java.lang.NumberFormatException: For input string: … OffsetSeq",
        ),
        codes=("HF2242", "HF2220"),
    ),
)
