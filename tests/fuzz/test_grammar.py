"""The oracle of grammar refuses what Spark does not write, and knows what means the same."""

from __future__ import annotations

import struct

import pytest

from tests.corpus.loading import sample
from tests.fuzz.grammar import follows, meaning
from tests.fuzz.kinds import kind_of, kinds_in

FILES = {
    **sample("transform-pandas", "4.3.0").files(),
    **sample("aggregation-rocksdb-format-2", "4.3.0").files(),
    **sample("kafka", "4.2.0").files(),
    "sources/7/0": b'v1\n{"path":"file:///a","timestamp":5,"batchId":0}',
    "commits/77": sample("named-sinks", "4.3.0").files()["commits/0"],
}
KINDS = kinds_in(FILES)
ID = b"2f8e3c1e-5d3a-4b57-9d3f-0c1b2a3d4e5f"


def first(kind: str) -> str:
    """Name a file of a kind."""
    return min(path for path, one in KINDS.items() if one == kind)


REFUSED = [
    ("metadata", b"{}"),
    ("metadata", b'{"id":"not-a-uuid"}'),
    ("metadata", b'{"id":"%s","id":"%s"}' % (ID, ID)),
    ("metadata", b"\xef\xbb\xbf" + b'{"id":"%s"}' % ID),
    ("offsets", b""),
    ("offsets", b"v9\n{}\n1"),
    ("offsets", b"v1\n{}"),
    ("offsets", b"v1\r\n{}\r\n1"),
    ("offsets", b'v1\n{"batchWatermarkMs":9223372036854775808}\n1'),
    ("offsets", b'v1\n{"conf":{"a":1}}\n1'),
    ("offsets", b"v1\n{}\n" + b"[" * 300 + b"]" * 300),
    ("offsets", b"v1\n{}\nNaN"),
    ("offsets", b"v2\n{}\n1"),
    ("offsets", b"v2\n{}\na:1\na:2"),
    ("commits", b"v1"),
    ("commits", b"v1\n{}"),
    ("commits", b'v2\n{"nextBatchWatermarkMs":0}'),
    ("commits", b'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{"0":[["x"]]}}'),
    ("commits", b'v3\n{"nextBatchWatermarkMs":0,"sinkMetadataMap":{}}'),
    ("commits", b'v1\n{"nextBatchWatermarkMs":0}\nmore'),
    ("source log", b"v1"),
    ("source log", b'v1\n{"path":"a","timestamp":1}'),
    ("source log", b'v1\n{"path":"a","timestamp":true,"batchId":0}'),
    ("initial offset", b"\0v1\n"),
    ("initial offset", b'\0v1\n{"topic":{"zero":1}}'),
    ("initial offset", b"v1\n12x"),
    ("operator metadata", b'v1\n{"operatorInfo":{}}'),
    ("state schema", b""),
    ("state schema", struct.pack(">H2sI", 2, b"v2", 2**31 - 1)),
    ("Spark checksum", b'{"algorithm":"MD5"}'),
    ("zip", b""),
]


@pytest.mark.parametrize(("kind", "data"), REFUSED, ids=repr)
def test_what_spark_does_not_write_is_refused(kind: str, data: bytes) -> None:
    """While the real file of that kind is accepted."""
    path = first(kind)
    assert follows(kind, path, FILES[path])
    assert not follows(kind, path, data)


def test_cut_schemas_and_operators_are_refused_at_every_byte() -> None:
    """No beginning of such a file is one."""
    for kind in ("state schema", "operator metadata", "Spark checksum"):
        path = first(kind)
        cuts = [FILES[path][:length] for length in range(len(FILES[path]))]
        assert not any(follows(kind, path, cut) for cut in cuts)


SAME = [
    ("metadata", b'{"id":"%s"}' % ID, b' { "id" : "%s" }\n' % ID),
    ("offsets", b"v1\n{}\n5", b"v01\n{}\n5\n"),
    ("offsets", b'v1\n{"batchWatermarkMs":0}\n5', b'v1\n{"later":1}\n5'),
    ("commits", b'v1\n{"nextBatchWatermarkMs":0}', b'v1 \n{"nextBatchWatermarkMs": 0}\n'),
]


@pytest.mark.parametrize(("kind", "one", "other"), SAME, ids=repr)
def test_what_spark_reads_alike_means_the_same(kind: str, one: bytes, other: bytes) -> None:
    """And another value does not."""
    path = first(kind)
    assert meaning(kind, path, one) == meaning(kind, path, other) != FILES[path]


def test_kinds_are_told_by_name() -> None:
    """Only what Spark opens under that very name has a kind."""
    assert kind_of("offsets/7") == "offsets"
    assert kind_of("offsets/.7.crc") == "side file"
    assert {kind_of(path) for path in ("offsets/007", "offsets/7/x", "a")} == {"foreign"}
