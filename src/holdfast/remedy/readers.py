"""What a plan means for the jobs of the project that read an output."""

from __future__ import annotations

from holdfast.jobs.ready import DownstreamJob
from holdfast.ledgers.sparkfilesink import FORMATS

_CLEARED_TABLE = (
    "fails at every start with DELTA_SOURCE_IGNORE_DELETE, for good, until it is reset too: its "
    "stream meets the deletion"
)
_CLEARED_FILES = (
    "takes the files that are written again for new ones: rows that it has processed are "
    "processed a second time, unless it is reset too"
)
_REWOUND_TABLE = (
    "fails at its next start with DELTA_SOURCE_IGNORE_DELETE, because rows were removed from the "
    "table that it streams; rows that are written again would reach it a second time"
)
_REWOUND_FILES = (
    "has read files that are removed; it processes their rows a second time from the new ones"
)
UNSTARTED = "has no checkpoint: its first start reads what is there by then"
_NEW_OUTPUT = "continues to read the former output, which gets no new rows"


def effect_of_clear(written: str, reader: DownstreamJob) -> str:
    """Return what happens to a job when the output that it reads is cleared and written again."""
    if reader.through is not None:
        return f"reads from job {reader.through}, which reads the cleared output"
    if written == reader.format == "delta":
        return _CLEARED_TABLE
    if written in FORMATS and (reader.format in FORMATS or reader.format == "text"):
        return _CLEARED_FILES
    return f"reads it with the source {reader.format}, which may depend on the rows that go"


def effect_of_rewind(written: str, reader: DownstreamJob) -> str:
    """Return what happens to a job when batches that it read are taken back and written again."""
    if reader.through is not None:
        return f"reads from job {reader.through}, which reads the output"
    if written == reader.format == "delta":
        return _REWOUND_TABLE
    if written in FORMATS and (reader.format in FORMATS or reader.format == "text"):
        return _REWOUND_FILES
    return f"reads it with the source {reader.format}, and may get rows a second time"


def effect_of_new_output(reader: DownstreamJob) -> str | None:
    """Return what happens to a job when another output takes the place of the one it reads."""
    if reader.through is not None:
        return None
    return _NEW_OUTPUT
