"""Knows which decoder reads which file of a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from holdfast.format.logs.commits import decode_commit
from holdfast.format.logs.filelog import decode_source_log
from holdfast.format.logs.initial import decode_initial
from holdfast.format.logs.offsets import decode_offsets
from holdfast.format.logs.query import decode_query
from holdfast.format.logs.sparkchecksum import decode_spark_checksum
from holdfast.format.state.operators import decode_operator
from holdfast.format.state.schema import decode_state_schema

Decoder = Callable[[bytes], object]

_DECODERS: tuple[tuple[re.Pattern[str], Decoder], ...] = (
    (re.compile(r"metadata"), decode_query),
    (re.compile(r"offsets/\d+"), decode_offsets),
    (re.compile(r"commits/\d+"), decode_commit),
    (re.compile(r"state/\d+/_metadata/metadata"), decode_operator),
    (re.compile(r"state/\d+/_metadata/v2/\d+"), decode_operator),
    (re.compile(r"state/\d+/\d+/(?:[^/]+/)?_metadata/schema"), decode_state_schema),
    (re.compile(r"state/\d+/_stateSchema/[^/]+/\d+_[0-9a-fA-F-]{36}"), decode_state_schema),
    (
        re.compile(r"state/.*/[^./][^/]*\.(?:delta|snapshot|zip|changelog)\.crc"),
        decode_spark_checksum,
    ),
)
_SOURCE_FILE = re.compile(r"sources/([^/]+)/(\d+)(\.compact)?")


def decoder_of(path: str, file_logs: Container[str]) -> Decoder | None:
    """Return the decoder of a file by its path, None where its content is not ours to read.

    A file below sources/ is private to its source; `file_logs` are the folders there that hold
    a file source's log. Elsewhere only the file `0` has a known form (Kafka's, rate's).
    """
    source_file = _SOURCE_FILE.fullmatch(path)
    if source_file is not None:
        if source_file[1] in file_logs:
            return decode_source_log
        return decode_initial if source_file[2] == "0" and not source_file[3] else None
    for pattern, decoder in _DECODERS:
        if pattern.fullmatch(path):
            return decoder
    return None
