"""The identity of a batch covers its whole range, and still knows digests of the older kind."""

from __future__ import annotations

import hashlib
import importlib
import json
import pickle
import subprocess
import sys
from copy import copy

import pytest

from holdfast.ledgers.identity import BatchId, BatchIdentity, OffsetRange, digest_of_offsets

BEFORE, ENTRY = b"v1\n{}\n6", b"v1\n{}\n7"
RANGE = OffsetRange(7, BEFORE, ENTRY)
IDENTITY = RANGE.identity("query", 3)


def test_the_digest_is_the_documented_one() -> None:
    """Others compute it as well: `range1:` and SHA-256 over both entries with their lengths."""
    content = b"".join(len(one).to_bytes(8, "big") + one for one in (BEFORE, ENTRY))
    assert IDENTITY.offsets_digest == f"range1:{hashlib.sha256(content).hexdigest()}"
    assert IDENTITY.entry_digest == hashlib.sha256(ENTRY).hexdigest()
    assert (IDENTITY.query_id, IDENTITY.batch_id, IDENTITY.generation) == ("query", 7, 3)


def test_no_byte_can_change_sides_and_none_is_left_out() -> None:
    others = [(b"", BEFORE + ENTRY), (BEFORE + b"v", ENTRY[1:]), (ENTRY, BEFORE), (b"", ENTRY)]
    digests = {OffsetRange(7, *one).digest for one in [(BEFORE, ENTRY), *others]}
    assert len(digests) == 1 + len(others)


@pytest.mark.parametrize(
    ("stored", "same"),
    [
        (RANGE.digest, True),
        (digest_of_offsets(ENTRY), True),
        (OffsetRange(7, b"other", ENTRY).digest, False),
        (OffsetRange(7, BEFORE, b"other").digest, False),
        (digest_of_offsets(BEFORE), False),
        (RANGE.digest.removeprefix("range1:"), False),
        (RANGE.digest.replace("range1", "range2"), False),
        (f"range1:{digest_of_offsets(ENTRY)}", False),
        ("", False),
        ("None", False),
    ],
)
def test_a_stored_digest_is_compared_as_the_kind_that_it_is(stored: str, same: bool) -> None:
    """The old kind is of the entry alone; an unknown kind is never equal."""
    assert IDENTITY.has_offsets(stored) is same


def test_an_identity_without_the_older_kind_compares_its_own_digest() -> None:
    """Programs may make one of their own, to ask a ledger."""
    own = BatchIdentity("query", 7, 3, "mine")
    assert own.has_offsets("mine")
    assert not own.has_offsets("") and not own.has_offsets(None)  # type: ignore[arg-type]


def test_a_batch_id_is_an_int_that_knows_its_identity() -> None:
    """What foreachBatch gives, and what a function for Holdfast expects."""
    given = BatchId(IDENTITY)
    assert isinstance(given, int) and given == 7 and hash(given) == hash(7) and given < 8
    assert [f"{given}", f"{given:03d}", str(given), repr(given)] == ["7", "007", "7", "7"]
    assert "%d" % given == "7"  # noqa: UP031 - as a function may do it
    assert json.dumps({"batch": given, given: 1}) == '{"batch": 7, "7": 1}'
    assert type(given + 1) is int and range(10)[given] == 7 and {7: "seven"}[given] == "seven"
    assert given.identity is IDENTITY and given.key == "query/7" and given.query_id == "query"
    assert (given.batch_id, given.generation) == (7, 3)
    assert given.has_offsets(given.offsets_digest) and not given.has_offsets("other")
    assert not hasattr(given, "__dict__"), "createDataFrame would take it for a struct"
    assert not hasattr(given, "nothing")


def test_equal_ids_of_two_queries_are_equal_numbers_and_other_identities() -> None:
    """A ledger compares identities."""
    given, other = BatchId(IDENTITY), BatchId(RANGE.identity("another", 3))
    assert given == other and given.identity != other.identity


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_batch_id_travels_with_its_identity(protocol: int) -> None:
    """Also by copies."""
    for made in (pickle.loads(pickle.dumps(BatchId(IDENTITY), protocol)), copy(BatchId(IDENTITY))):
        assert type(made) is BatchId and made == 7 and made.identity == IDENTITY


def test_it_is_usable_where_holdfast_is_not_installed() -> None:
    """Executors of a cluster run the function that was written for foreachBatch."""
    from pyspark import cloudpickle

    importlib.import_module("holdfast.spark.sinks.custom")  # has identities pickled by value
    given = BatchId(IDENTITY)
    sent = cloudpickle.dumps(  # type: ignore[no-untyped-call]
        lambda: f"{given}: {given + 1}, {given.key}, {given.has_offsets('x')}"
    )
    program = (
        "import pickle, sys; sys.modules['holdfast'] = None; print(pickle.load(sys.stdin.buffer)())"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "7: 8, query/7, False"
