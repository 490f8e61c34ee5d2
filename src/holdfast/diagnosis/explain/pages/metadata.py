"""Pages: the file `metadata` with the query id, and a first start in a folder that was used."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "metadata-file-missing",
        "the file with the query id is missing",
        "`metadata` is gone while the logs hold batches. Its id is what sinks such as Delta know "
        "the query by. Spark before 4.2 starts silently with a new id; from 4.2 on it refuses.",
        (
            "`spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false` gives the query a "
            "new id, and a repeated batch is delivered twice.",
            "Spark's own text offers a new checkpoint directory: that loses the position too.",
        ),
        (
            "Put `metadata` back from a backup.",
            "The id also stands in the sink's own log (Delta: the transaction's application id) "
            "and in old driver logs: write the file with exactly that id.",
        ),
        conditions=("STREAMING_CHECKPOINT_MISSING_METADATA_FILE",),
        codes=("HF2201",),
    ),
    Page(
        "metadata-file-unreadable",
        "the file with the query id can't be read",
        "`metadata` is empty, cut or holds something that is no id. Spark fails in `start()` with "
        "an error of its JSON or UUID parser that names no file.",
        (
            "Removing the file: older Sparks then invent a new id without a word.",
            "Writing a fresh random id: the sink takes the query for another one.",
        ),
        (
            "Put the file back from a backup, or write it with the id that the sink's own log or "
            "old driver logs show.",
            "`holdfast inspect CHECKPOINT` says what is wrong with it.",
        ),
        fragments=(
            "com.fasterxml.jackson … StreamMetadata",
            "com.fasterxml.jackson … org.apache.spark.sql.execution.streaming.StreamMetadata$.read",
            "org.json#s.MappingException … StreamMetadata",
            "IllegalArgumentException: Invalid UUID string: … StreamExecution",
            "Invalid UUID string: … java.util.UUID.fromString … streaming",
            "Error reading stream metadata from",
        ),
        codes=("HF2202", "HF2101", "HF2105"),
    ),
    Page(
        "logs-lost-but-not-empty",
        "a query that would begin at batch 0 found remains of an older one",
        "There are no offsets, so Spark would begin at batch 0, but `offsets/`, `commits/` or "
        "`state/` still holds files. Spark before 4.1 would have started over the old state.",
        (
            "Spark's text says to delete the files: then the query reads its source anew under ids "
            "that the sink has seen.",
            "`spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart=false` mixes the old state "
            "into the new query.",
        ),
        (
            "Find out what became of `offsets/` and put it back from a backup.",
            "If this really is a new query, give it a folder that nobody ever used, and an output "
            "of its own.",
        ),
        conditions=("STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY",),
        codes=("HF2208", "HF2209"),
    ),
)
