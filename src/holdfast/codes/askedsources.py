"""HF2366 to HF2370: stored offsets against what a source still has."""

from __future__ import annotations

from holdfast.codes.code import Code

ASKED_SOURCE_CODES: tuple[Code, ...] = (
    Code(
        "HF2366",
        "the Delta source is another table than the one that was read",
        "the table was dropped and created again, or another path is declared. Delta stops with "
        "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE, because its versions mean other rows",
        ("declare the path of the table that was read before",),
    ),
    Code(
        "HF2367",
        "the Delta source no longer has the versions that come next",
        "the log was cleaned below the stored version (delta.logRetentionDuration). Delta stops "
        "because a commit file is missing; with failOnDataLoss=false it skips rows silently",
        ("put the missing files of _delta_log back from a copy of the table",),
    ),
    Code(
        "HF2368",
        "a source could not be asked what it still has",
        "whether the stored offsets still exist is unknown, not confirmed",
        ("run holdfast doctor TARGET where the source can be reached",),
    ),
    Code(
        "HF2369",
        "Kafka no longer has the stored offsets",
        "records expired before they were read, or the topic was created again with fewer records. "
        "Spark stops with KAFKA_DATA_LOSS; with failOnDataLoss=false it skips records silently. "
        "After an unclean change of the leader a broker may show fewer records for a while",
        ("ask again after some minutes: holdfast doctor TARGET",),
    ),
    Code(
        "HF2370",
        "a Kafka topic was created again since the last batch",
        "the first record of the topic is newer than the last batch, yet the checkpoint is past "
        "it. Spark starts without an error and never reads the records before the stored offset",
        ("compare when the topic was created with the last batch: holdfast inspect TARGET",),
    ),
)
