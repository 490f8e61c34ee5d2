"""Transaction identifiers of Delta tables, as real Delta wrote them and as accidents leave them."""

from __future__ import annotations

import json

import pytest

from holdfast.ledgers.delta.transactions import DeltaLedger, read_delta_ledger
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample

Files = dict[str, bytes]


def log_files(name: str) -> Files:
    """Give the files in the log's own folder."""
    files = sample(name, "4.2.0").output_files()
    return {path.removeprefix("_delta_log/"): data for path, data in files.items()}


def versions_only(files: Files) -> Files:
    """Give a log without summaries, as other writers leave it."""
    return {path: data for path, data in files.items() if path.endswith(".json")}


def read(files: Files) -> DeltaLedger:
    """Read a log that is there."""
    ledger = read_delta_ledger(MemoryReader(files))
    assert ledger is not None
    return ledger


@pytest.mark.parametrize("name", ["delta", "delta-restarted", "delta-totals"])
def test_real_tables_know_their_query(name: str) -> None:
    """From the summary, and from the versions alone, the same."""
    facts = sample(name, "4.2.0").facts
    newest = 1 if name == "delta-totals" else 2
    for files in (log_files(name), versions_only(log_files(name))):
        ledger = read(files)
        assert ledger.transactions == {facts["query_id"]: newest}
        assert ledger.complete and ledger.table_id and ledger.retention is None
        assert ledger.table_schema is not None and ledger.partition_columns == ()
        assert json.loads(ledger.table_schema)["type"] == "struct"
        assert ledger.last_committed(facts["query_id"]).value == newest
        assert ledger.last_committed("another").value is None


def test_the_newest_version_of_an_identifier_counts() -> None:
    """Also where it went down: the table's word is the last one."""
    lines = [json.dumps({"txn": {"appId": "a", "version": one}}, separators=(",", ":"))
             for one in (7, 3)]  # fmt: skip
    files = {f"{number:020}.json": line.encode() for number, line in enumerate(lines)}
    assert read(files).transactions == {"a": 3}


def test_a_cleaned_log_says_that_it_does_not_know() -> None:
    """No checkpoint of the log stands for the version that is gone."""
    files = versions_only(log_files("delta"))
    del files[f"{0:020}.json"]
    ledger = read(files)
    assert not ledger.complete
    assert "a part of the Delta log is gone" in ledger.last_committed("another").basis


def test_a_damaged_version_or_summary_is_no_word() -> None:
    """The summary is not needed; a version that can't be read leaves the ledger incomplete."""
    files = log_files("delta")
    summary = f"{2:020}.crc"
    assert read({**files, summary: b"{"}).complete
    broken = {**versions_only(files), f"{1:020}.json": b'{"txn":'}
    ledger = read(broken)
    assert (ledger.complete, ledger.unread) == (False, (f"{1:020}.json",))


def test_a_version_that_was_cut_anywhere_is_no_word() -> None:
    """Also where the actions that matter would have come after the cut."""
    files = versions_only(log_files("delta"))
    path = f"{1:020}.json"
    lines = files[path].split(b"\n")
    for number, line in enumerate(lines):
        cut = b"\n".join([*lines[:number], line[: len(line) // 2]])
        assert read({**files, path: cut}).unread == ((path,) if line else ())


def test_separators_of_lines_within_a_text_cut_no_line() -> None:
    """Only a line feed ends an action; other separators may stand in any text."""
    files = versions_only(log_files("delta"))
    odd = '{"add":{"path":"a\u2028b\x85c"}}\n'.encode()
    ledger = read({**files, f"{1:020}.json": odd + files[f"{1:020}.json"]})
    assert ledger.complete


def test_no_log_is_none() -> None:
    """A folder without versions."""
    assert read_delta_ledger(MemoryReader({"readme": b""})) is None


DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("retention", "age_ms", "expired"),
    [
        (None, 99 * DAY_MS, False),
        ("interval 7 days", 6 * DAY_MS, False),
        ("interval 7 days", 7 * DAY_MS, True),
        ("7 DAYS", 8 * DAY_MS, True),
        ("interval 1 week 1 day", 7 * DAY_MS, False),
        ("interval 30 minutes", 1_800_001, True),
        ("interval 7 days", None, True),
        ("for ever and a day", 99 * DAY_MS, False),
        ("", 99 * DAY_MS, False),
    ],
)
def test_an_identifier_expires_with_the_tables_retention(
    retention: str | None, age_ms: int | None, expired: bool
) -> None:
    """One that has no time is forgotten at once; what is not understood forgets nothing."""
    now = 100 * DAY_MS
    written = {"q": None if age_ms is None else now - age_ms}
    ledger = DeltaLedger("t", 0, {"q": 3}, True, retention, updated_ms=written, read_at_ms=now)
    assert ledger.has_expired("q") is expired
    assert not ledger.has_expired("another")
    assert not ledger.has_expired(None)


def test_the_name_that_a_query_has_now_is_the_one_that_expires() -> None:
    """After a taking back the first name says nothing any more."""
    query = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
    identifiers = {query: 2**63 - 1, f"{query}#1": 5}
    written = {query: 0, f"{query}#1": 99_500}
    ledger = DeltaLedger(
        "t", 0, identifiers, True, "1 second", updated_ms=written, read_at_ms=100_000
    )
    assert not ledger.has_expired(query)
