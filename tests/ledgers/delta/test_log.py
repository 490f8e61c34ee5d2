"""The one reader of Delta's log: every legal spelling of one action gives the same answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.diagnosis.inspection.sink.deltacommits import newest_commit_of
from holdfast.errors import DecodeError
from holdfast.format import strictjson
from holdfast.ledgers.delta import log as deltalog
from holdfast.ledgers.delta.batches import batch_of, user_metadata
from holdfast.ledgers.delta.following import FollowedTable
from holdfast.ledgers.delta.log import Commit, Transaction, list_log
from holdfast.ledgers.delta.rewind import versions_newest_first
from holdfast.ledgers.delta.transactions import read_delta_ledger
from holdfast.ledgers.identity import BatchIdentity
from holdfast.storage.memory import MemoryReader
from tests.ledgers.spellings import spelled_lines

QUERY = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
SCHEMA = '{"type":"struct","fields":[]}'
ODD = st.sampled_from(
    ["plain", "a\u2028b", "c\x85d", "\x1f\u0001", '"txn"', '{"txn":1}', "\\u0074xn"]
)


@st.composite
def versions(draw: st.DrawFn) -> list[Any]:
    """Give the actions of one version: a batch, or somebody else's work, with files or without."""
    number, theirs = draw(st.integers(0, 9)), draw(st.booleans())
    note = user_metadata(BatchIdentity(QUERY, number, draw(st.integers(1, 3)), "digest"))
    parameters = {"queryId": QUERY, "outputMode": "Append", "mode": draw(ODD)}
    info = {
        "operation": draw(st.sampled_from(["WRITE", "MERGE", "RESTORE", "STREAMING UPDATE"])),
        "operationParameters": parameters,
        "operationMetrics": {"numOutputRows": str(number)},
        "userMetadata": draw(ODD) if theirs else note,
        "engineInfo": "Apache-Spark/4.2.0 Delta-Lake/4.4.0",
    }
    actions: list[Any] = [{"commitInfo": info}]
    if draw(st.booleans()):
        actions.append({"txn": {"appId": draw(ODD) if theirs else QUERY, "version": number}})
    if draw(st.booleans()):
        described = {"id": draw(ODD), "schemaString": SCHEMA, "partitionColumns": ["txn"]}
        actions.append({"metaData": {**described, "configuration": {"txn": draw(ODD)}}})
    if draw(st.booleans()):
        actions.append({"protocol": {"minReaderVersion": 1}})
    for name in draw(st.lists(st.sampled_from(["add", "remove", "cdc"]), max_size=3)):
        file = {"path": draw(ODD), "dataChange": draw(st.booleans()), "stats": draw(ODD)}
        actions.append({name: {**file, "partitionValues": {"txn": draw(ODD)}}})
    return draw(st.permutations(actions))


def answers(data: bytes) -> tuple[object, ...]:
    """Ask everything that reads a log, of a table with this one version."""
    reader = MemoryReader({f"{0:020}.json": data})
    followed = FollowedTable(reader, QUERY)
    followed.look()
    return (
        read_delta_ledger(reader),
        list(versions_newest_first(reader, 0)),
        batch_of(0, Commit(data), QUERY),
        newest_commit_of(reader, QUERY),
        (followed.last_batch, followed.batch(3), followed.table_schema),
    )


def plain(actions: list[Any]) -> bytes:
    """Spell actions as Delta itself does."""
    return "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in actions).encode()


@given(st.data())
def test_every_spelling_gives_the_same_answers(data: st.DataObject) -> None:
    """Blanks, order, escaped keys, separators within strings: in the ledger and everywhere else."""
    actions = data.draw(versions())
    assert answers(data.draw(spelled_lines(actions))) == answers(plain(actions))


@pytest.mark.parametrize(
    "line",
    [
        '{ "txn" : {"appId":"q","version":7}}',
        '\t{"txn":{"version":7.0,"appId":"q"}}\r',
        '{"\\u0074xn":{"appId":"q","version":7}}',
        '{"add":null,"t\\u0078\\u006E":{"appId":"q","version":7e0}}',
    ],
)
def test_a_txn_action_is_seen_however_it_is_spelled(line: str) -> None:
    """White space before the name, an escaped letter, a null beside it."""
    others = '{"add":{"path":"a\u2028b","stats":"\\\\u0001"}}'
    commit = Commit(f"{others}\n{line}\n{others}".encode())
    assert commit.transactions == (Transaction("q", 7),)


def test_lines_of_files_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit of a large table: only the lines that can matter cost a decoding."""
    file = {"path": "p", "dataChange": True, "stats": '{"minValues":{"txn":"\x01"}}'}
    actions: list[Any] = [{"add": file}] * 50 + [{"txn": {"appId": "q", "version": 7}}]
    decoded: list[str] = []
    decode = strictjson.decode_object

    def count(text: str, *, what: str) -> dict[str, object]:
        decoded.append(text)
        return decode(text, what=what)

    monkeypatch.setattr(deltalog, "decode_object", count)
    commit = Commit(plain(actions))
    assert (commit.transactions, commit.metadata) == ((Transaction("q", 7),), None)
    assert len(decoded) == 1
    assert commit.changes_rows
    assert len(decoded) == 2


@pytest.mark.parametrize(
    "action",
    [{"appId": "q"}, {"version": 1}, {"appId": "q", "version": 2**63},
     {"appId": "q", "version": 1.5}, {"appId": "q", "version": True}],
)  # fmt: skip
def test_an_impossible_txn_is_damage_and_not_nothing(action: dict[str, object]) -> None:
    """Which batch the table holds is unknown then."""
    data = plain([{"txn": action}])
    with pytest.raises(DecodeError) as caught:
        _ = Commit(data).transactions
    assert caught.value.code.number == "HF2416"
    ledger = read_delta_ledger(MemoryReader({f"{0:020}.json": data}))
    assert ledger is not None and not ledger.complete


@pytest.mark.parametrize("depth", [300, 200_000])
def test_absurd_json_is_damage_of_the_log(depth: int) -> None:
    """No end in RecursionError, whoever reads it."""
    nested = b'{"txn":' + b"[" * depth + b"]" * depth + b"}"
    digits = b'{"txn":{"appId":"q","version":' + b"9" * 10_000 + b"}}"
    for data in (nested, digits):
        reader = MemoryReader({f"{0:020}.json": data})
        ledger = read_delta_ledger(reader)
        assert ledger is not None and ledger.unread
        assert newest_commit_of(reader, QUERY) is None
        with pytest.raises(DecodeError):
            list(versions_newest_first(reader, 0))


def test_the_hint_of_the_newest_checkpoint_decides_nothing() -> None:
    """It may be missing, out of date or damaged; the log is listed whole."""
    held = {f"{number:020}.json": plain([{"txn": {"appId": "q", "version": number}}])
            for number in range(3)}  # fmt: skip
    for hint in (b"", b'{"version":1}', b'{"version":99}', b"\xff"):
        reader = MemoryReader({**held, "_last_checkpoint": hint})
        assert list_log(reader).newest == 2
        ledger = read_delta_ledger(reader)
        assert ledger is not None and ledger.identifiers == {"q": 2}
