"""When versions were committed: by the files of the log, or by what their commits say."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.ledgers.delta.log import list_log
from holdfast.ledgers.delta.moments import CommitTimes
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings


def commits(folder: Path, times: dict[int, int], said: dict[int, int] | None = None) -> CommitTimes:
    """Write versions with these times, by the file system and by the commits, and look at them."""
    folder.mkdir(exist_ok=True)
    for version, written in times.items():
        information = {"timestamp": 1, "operation": "WRITE"}
        if said is not None and version in said:
            information["inCommitTimestamp"] = said[version]
        file = folder / f"{version:020}.json"
        file.write_text(json.dumps({"commitInfo": information}), encoding="utf-8")
        os.utime(file, ns=(written * 1_000_000, written * 1_000_000))
    reader = open_reader(parse_location(str(folder)), StorageSettings())
    return CommitTimes(list_log(reader), reader)


def test_the_file_of_a_version_says_when_it_was_written(tmp_path: Path) -> None:
    """Both ends of a range are part of it."""
    seen = commits(tmp_path, {3: 1000, 4: 2000, 5: 3000})
    assert [seen.of(one) for one in seen.versions] == [1000, 2000, 3000]
    assert seen.between(1000, 2000) == range(3, 5)
    assert seen.between(1001, 9000) == range(4, 6)
    assert list(seen.between(2001, 2999)) == []
    assert list(seen.between(3001, 9000)) == []


def test_a_version_is_later_than_the_one_before_it_whatever_the_clocks_say(tmp_path: Path) -> None:
    """As Delta counts it: one millisecond after that one."""
    seen = commits(tmp_path, {0: 1000, 1: 500, 2: 400, 3: 2000})
    assert [seen.of(one) for one in seen.versions] == [1000, 1001, 1002, 2000]
    assert seen.between(1001, 1002) == range(1, 3)


def test_a_table_with_in_commit_timestamps_says_it_itself(tmp_path: Path) -> None:
    """Also where its files were copied later; versions from before it had them have none."""
    seen = commits(tmp_path, dict.fromkeys(range(4), 9000), {2: 9500, 3: 9600})
    assert seen.between(9500, 9600) == range(2, 4)
    assert seen.between(9000, 9001) == range(2)
    copied = commits(tmp_path / "c", dict.fromkeys(range(3), 9000), {0: 100, 1: 200, 2: 300})
    assert copied.between(150, 200) == range(1, 2)


def test_a_storage_without_times_is_not_guessed_at() -> None:
    log = MemoryReader({f"{0:020}.json": b'{"commitInfo":{}}'})
    with pytest.raises(HoldfastError) as caught:
        CommitTimes(list_log(log), log).between(0, 1)
    assert caught.value.code.number == "HF2416"


def test_one_version_without_a_time_leaves_all_of_them_unknown() -> None:
    """Later ones are counted from it."""
    log = MemoryReader({f"{one:020}.json": b'{"commitInfo":{}}' for one in range(3)})
    files = replace(list_log(log), modified_ms={0: 5, 2: 9})
    with pytest.raises(HoldfastError) as caught:
        CommitTimes(files, log).of(0)
    assert caught.value.code.number == "HF2416"
