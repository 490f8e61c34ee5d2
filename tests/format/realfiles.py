"""Knows how each kind of file of a real checkpoint is decoded, and how it is encoded again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.format.logs.checksums import decode_spark_checksum, encode_spark_checksum
from holdfast.format.logs.commits import decode_commit, encode_commit
from holdfast.format.logs.filelog import (
    decode_sink_log,
    decode_source_log,
    encode_sink_log,
    encode_source_log,
)
from holdfast.format.logs.log import decode_query, encode_query
from holdfast.format.logs.offsets import decode_initial, decode_offsets, encode_offsets
from holdfast.format.state.operators import decode_operator, encode_operator
from holdfast.format.state.schema import decode_state_schema, encode_state_schema
from tests.corpus.loading import Sample


@dataclass(frozen=True)
class Kind:
    """One kind of file: which paths are of it, and the two ways."""

    name: str
    path: re.Pattern[str]
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]


KINDS: tuple[Kind, ...] = (
    Kind("query", re.compile(r"metadata"), decode_query, encode_query),
    Kind("offsets", re.compile(r"offsets/\d+"), decode_offsets, encode_offsets),
    Kind("commit", re.compile(r"commits/\d+"), decode_commit, encode_commit),
    Kind(
        "source log",
        re.compile(r"sources/[^/]+/\d+(\.compact)?"),
        decode_source_log,
        encode_source_log,
    ),
    Kind(
        "sink log",
        re.compile(r"_spark_metadata/\d+(\.compact)?"),
        decode_sink_log,
        encode_sink_log,
    ),
    Kind(
        "operator",
        re.compile(r"state/\d+/_metadata/(metadata|v2/\d+)"),
        decode_operator,
        encode_operator,
    ),
    Kind(
        "state schema",
        re.compile(r"state/.+/(_metadata/schema|_stateSchema/[^/]+/\d+_[^/]+)"),
        decode_state_schema,
        encode_state_schema,
    ),
    Kind(
        "Spark checksum",
        re.compile(r"state/.+/[^./][^/]*\.(delta|snapshot|changelog|zip)\.crc"),
        decode_spark_checksum,
        encode_spark_checksum,
    ),
)


def real_files(sample: Sample) -> Iterator[tuple[Kind, str, bytes]]:
    """Give every file of a sample that one of the kinds fits."""
    for path, data in {**sample.files(), **sample.output_files()}.items():
        for kind in KINDS:
            if kind.path.fullmatch(path) and not _is_private(kind, data):
                yield kind, path, data


def _is_private(kind: Kind, data: bytes) -> bool:
    # Kafka and rate keep another form below sources/.
    return kind.name == "source log" and decode_initial(data).kind != "unknown"
