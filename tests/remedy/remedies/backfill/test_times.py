"""Times of a range and what they mean: offsets of every partition, versions of a table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.diagnosis.inspection.sources import BrokerSeen, Span
from holdfast.errors import HoldfastError, StorageError
from holdfast.ledgers.delta.transactions import TableSeen, look_at_source_table
from holdfast.remedy.remedies.backfill.times import Times, offsets_between, versions_between
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings

FROM, TO = "2026-01-01T00:00Z", "2026-01-02T00:00:00.500+01:00"


def asked(first: str = FROM, last: str = TO) -> Times:
    """Return a range of times."""
    times = Times.of(first, last)
    assert times is not None
    return times


def refusal(act: Callable[[], object]) -> HoldfastError:
    """Return what refuses an act."""
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value


def test_times_have_a_zone_and_are_both_ends() -> None:
    times = asked()
    assert (times.start_ms, times.end_ms) == (1_767_225_600_000, 1_767_308_400_500)
    assert Times.of("1", '{"t": {"0": 1}}') is None
    assert Times.of("2026-01-01", "2026-01-02T00:00") is None
    for ends in ((FROM, "12"), ("12", TO), (FROM, "2026-01-02"), (TO, FROM)):
        error = refusal(lambda ends=ends: Times.of(*ends))  # type: ignore[misc]
        assert error.code.number == "HF1001"


def broker(*spans: tuple[int, int, int | None, int | None]) -> BrokerSeen:
    """Return a topic: of each partition the first, the next, and both moments' first records."""
    seen = {("t", at): Span(one[0], one[1], None, one[2:]) for at, one in enumerate(spans)}
    return BrokerSeen("k:9092", frozenset("t"), seen)


def between(seen: BrokerSeen, partitions: int = 0) -> tuple[object, object]:
    """Return where the range begins and ends."""
    wanted = [("t", at) for at in range(partitions or len(seen.spans))]
    first, last = offsets_between(seen, wanted, asked(), at="here")
    return json.loads(first), json.loads(last)


def test_a_range_of_records_ends_before_the_first_one_of_its_end() -> None:
    """Where there is none from a moment on, after the newest one."""
    seen = broker((0, 100, 20, 60), (0, 50, 10, None), (5, 40, None, None), (0, 0, None, None))
    first = {"t": {"0": 20, "1": 10, "2": 40, "3": 0}}
    assert between(seen) == (first, {"t": {"0": 60, "1": 50, "2": 40, "3": 0}})


def test_timestamps_that_do_not_rise_give_no_range_that_ends_before_it_begins() -> None:
    assert between(broker((0, 9, 1, 2), (0, 100, 60, 20))) == (
        {"t": {"0": 1, "1": 60}}, {"t": {"0": 2, "1": 60}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("span", "left"),
    [((30, 100, 30, 60), '--from \'{"t": {"0": 30, "1": 1}}\' --to \'{"t": {"0": 60, "1": 2}}\''),
     ((30, 100, 30, 30), '{"0": 30, "1": 1}'), ((30, 30, None, None), '{"0": 30, "1": 1}'),
     # Removed after the first records of the moments were asked for.
     ((30, 100, 20, 25), '--to \'{"t": {"0": 30, "1": 2}}\'')],
)  # fmt: skip
def test_records_that_retention_may_have_removed_are_not_left_out(
    span: tuple[int, int, int | None, int | None], left: str
) -> None:
    """Nothing tells whether they were of the range; the offsets of what is left are shown."""
    error = refusal(lambda: between(broker(span, (0, 9, 1, 2))))
    assert error.code.number == "HF4612"
    assert "t partition 0 no longer has the records before offset 30" in error.message
    assert any(left in one for one in error.next_steps)


def test_removed_records_before_an_older_one_are_not_of_the_range() -> None:
    assert between(broker((30, 100, 31, 60))) == ({"t": {"0": 31}}, {"t": {"0": 60}})


def test_where_nothing_is_left_no_other_range_is_named() -> None:
    error = refusal(lambda: between(broker((30, 30, None, None))))
    assert (error.code.number, len(error.next_steps)) == ("HF4612", 1)


def test_a_range_without_a_record_is_refused() -> None:
    error = refusal(lambda: between(broker((0, 100, 20, 20), (0, 3, None, None))))
    assert (error.code.number, FROM in error.message) == ("HF4601", True)


def test_a_partition_that_is_gone_and_a_broker_that_is_silent() -> None:
    assert refusal(lambda: between(broker((0, 9, 1, 2)), 2)).code.number == "HF4612"
    error = refusal(lambda: between(BrokerSeen("k:9092", failure="timed out"), 1))
    assert (error.code.number, "timed out" in error.message) == ("HF4603", True)


def table(folder: Path, versions: range) -> TableSeen:
    """Return a table whose version n was committed n hours after `FROM`."""
    start = asked().start_ms
    for version in versions:
        file = folder / f"{version:020}.json"
        file.write_text(json.dumps({"metaData": {"id": "t"}}), encoding="utf-8")
        moment = (start + version * 3_600_000) * 1_000_000
        os.utime(file, ns=(moment, moment))
    place = parse_location(str(folder))
    return look_at_source_table("lake", lambda: open_reader(place, StorageSettings()))


def test_versions_committed_from_one_time_to_another(tmp_path: Path) -> None:
    seen = table(tmp_path, range(40))
    assert versions_between(seen, asked(), at="here") == ("0", "23")
    late = asked("2026-01-02T10:30Z", "2030-01-01T00:00Z")
    assert versions_between(seen, late, at="here") == ("35", "39")
    none = asked("2026-01-01T03:01Z", "2026-01-01T03:59Z")
    assert refusal(lambda: versions_between(seen, none, at="here")).code.number == "HF4601"


def test_versions_that_the_log_may_have_lost(tmp_path: Path) -> None:
    """Refused unless the oldest that is left was committed before the range."""
    seen = table(tmp_path, range(2, 9))
    error = refusal(lambda: versions_between(seen, asked(), at="here"))
    assert error.code.number == "HF4612"
    assert any("--from 2 --to 8" in one for one in error.next_steps)
    since = asked("2026-01-01T02:00Z", TO)
    assert versions_between(seen, since, at="here") == ("2", "8")


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    refused = TableSeen("lake", failure=StorageError("HF7002", "access was denied"))
    error = refusal(lambda: versions_between(refused, asked(), at="here"))
    assert (error.code.number, "access was denied" in error.message) == ("HF4603", True)
    seen = table(tmp_path, range(3))
    (tmp_path / f"{2:020}.json").write_text('{"commitInfo": {', encoding="utf-8")
    error = refusal(lambda: versions_between(seen, asked(), at="here"))
    assert error.code.number == "HF4603"
