"""`holdfast state` as people and scripts see it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.redaction import remember_secret
from tests.cli.running import holdfast
from tests.corpus.loading import Sample, corpus, sample

STATEFUL = [one for one in corpus() if one.facts.get("state")]
NEWEST = [one for one in STATEFUL if one.spark == "4.3.0"]


def digest_tree(root: Path) -> dict[str, tuple[str, int]]:
    """Fingerprint every file: content and time of change."""
    return {
        str(path.relative_to(root)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder",
            path.stat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
    }


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A real checkpoint with windows."""
    return str(sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path / "a"))


@pytest.mark.parametrize("one", NEWEST, ids=str)
def test_the_page_fits_80_columns_and_writes_nothing(
    one: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, summary, JSON and a file: the checkpoint is the same afterwards."""
    monkeypatch.setenv("COLUMNS", "80")
    root = one.extract(tmp_path / "c")
    before = digest_tree(tmp_path / "c")
    for words in ([], ["--summary"]):
        shown = holdfast("state", str(root), *words)
        assert shown.status == 0, shown.err
        assert shown.fits(80)
    answered = holdfast("state", str(root), "--json")
    assert answered.document["result"]["complete"] is True
    exported = holdfast("state", str(root), "--output", str(tmp_path / "rows.parquet"))
    assert exported.status == 0, exported.err
    assert digest_tree(tmp_path / "c") == before


def test_the_document_has_the_contracts_fields(place: str) -> None:
    """Fixed names: other programs depend on them."""
    document = holdfast("state", place, "--json", "--limit", "1").document
    assert document["schema"] == "holdfast.state/1"
    assert document["status"] == "ok"
    result = document["result"]
    assert {"operator", "store", "batch_id", "version", "rows", "total", "complete"} <= set(result)
    assert (result["batch_id"], result["version"], result["total"]) == (5, 6, 8)
    (row,) = result["rows"]
    assert row["partition"] == 0
    assert row["key"]["window"]["start"] == "2026-01-01T00:02:00Z"
    assert list(row["value"]) == ["count", "sum", "max", "sum#2", "count#2"]


def test_a_table_of_rows(tmp_path: Path) -> None:
    """A column for each, where they fit."""
    root = sample("join", "4.3.0").extract(tmp_path)
    lines = holdfast("state", str(root), "--limit", "2").out.splitlines()
    assert (
        "operator 0 (symmetricHashJoin), store left-keyWithIndexToValue, after batch 2"
        in (lines[1])
    )
    titles = next(line for line in lines if "partition" in line)
    assert titles.split() == ["partition", "field0", "index", "key", "value", "at", "matched"]
    assert "1  alder       0  alder      0  2026-01-01T00:00:00Z  true" in "\n".join(lines)
    assert lines[-1] == "the first 2 rows of 9 (--limit shows more)"


def test_rows_that_do_not_fit_are_folded(place: str) -> None:
    """Every value is there, in two columns."""
    text = " ".join(holdfast("state", place, "--limit", "1").out.split())
    assert "partition key value" in text
    for part in ("sum#2", "52.0", "count#2", "birch", "window 2026-01-01 00:02:00 to"):
        assert part in text


def test_a_wide_terminal_shows_columns(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, unfolded; a window is one cell."""
    monkeypatch.setenv("COLUMNS", "200")
    out = holdfast("state", place).out
    assert "partition  window                            key" in out
    assert "0  2026-01-01 00:02:00 to 00:04:00Z  birch" in out
    assert out.endswith("\n8 rows\n")


def test_times_to_live_and_maps_are_columns(tmp_path: Path) -> None:
    """Like any other."""
    root = sample("transform-pandas-timers", "4.3.0").extract(tmp_path)
    shown = holdfast("state", str(root), "--store", "by_parity").out
    titles = next(line for line in shown.splitlines() if "partition" in line)
    assert titles.split() == ["partition", "key", "parity", "count", "expires_at_ms"]
    assert "other stores: timers, total, values" in shown


def test_a_condition_and_a_key(place: str) -> None:
    """Both narrow what is shown."""
    found = holdfast("state", place, "--where", "count = 2 and key = 'birch'", "--json").document
    assert found["result"]["total"] == 1
    key = json.dumps(found["result"]["rows"][0]["key"])
    again = holdfast("state", place, "--key", key, "--json").document["result"]
    assert again["rows"] == found["result"]["rows"]
    assert len(again["partitions"]) == 1


def test_the_summary_has_a_bar_for_each_partition(tmp_path: Path) -> None:
    """As long as it is full."""
    root = sample("types", "4.3.0").extract(tmp_path)
    out = holdfast("state", str(root), "--summary").out
    assert f"0  {'█' * 30}  6 keys" in out
    assert f"1  {'█' * 10}  " in out
    assert "the largest partition is 1.5 times the average" in out
    assert "4 keys after batch 0, 8 now" in out
    summary = holdfast("state", str(root), "--summary", "--json").document["result"]["summary"]
    assert summary["keys"] == 8
    assert [one["keys"] for one in summary["partitions"]] == [6, 2]


def test_a_file_is_told(place: str, tmp_path: Path) -> None:
    """With its rows."""
    shown = holdfast("state", place, "--output", str(tmp_path / "rows.jsonl"))
    assert "8 rows written to" in shown.out
    assert len((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()) == 8


def test_a_file_is_replaced_only_with_force(place: str, tmp_path: Path) -> None:
    """Nothing is lost to a name that was used before."""
    rows = tmp_path / "rows.csv"
    rows.write_text("mine", encoding="utf-8")
    refused = holdfast("state", place, "--output", str(rows))
    assert refused.status == 2
    assert refused.err.startswith("error HF1005: the output file exists")
    assert "--force" in refused.err
    assert rows.read_text(encoding="utf-8") == "mine"
    assert holdfast("state", place, "--output", str(rows), "--force").status == 0
    assert rows.read_text(encoding="utf-8").startswith('"partition"')


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--where", "count >"], "HF2771", "character 8"),
        (["--where", "nobody = 1"], "HF2772", "there is no column nobody"),
        (["--output", "rows.txt"], "HF2773", ".txt is not a supported format"),
        (["--output", "nowhere/rows.csv"], "HF1006", "does not exist"),
        (["--output", "/proc/rows.csv"], "HF1006", "cannot be created"),
        (["--key", "{"], "HF2776", "not a JSON object"),
        (["--summary", "--limit", "3"], "HF1001", "covers all rows"),
        (["--limit", "0"], "HF1001", "0 is not in the range"),
        (["--memory", "1"], "HF1001", "1 is not in the range"),
    ],
)
def test_what_can_not_be_is_refused(place: str, words: list[str], code: str, said: str) -> None:
    """With status and code, in text and in JSON, and never a traceback."""
    shown = holdfast("state", place, *words)
    assert shown.out == ""
    assert f"error {code}" in shown.err
    assert said in " ".join(shown.err.split())
    printed = holdfast("state", place, *words, "--json")
    error = printed.document["error"]
    assert error["code"] == code
    assert printed.status == shown.status == 2
    assert error["next"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--operator", "7"], "there is no stateful operator 7"),
        (["--store", "nobody"], "has no store 'nobody'"),
        (["--batch", "77"], "batch 77 is not committed; committed batches: 0 to 5"),
        (["--partition", "5"], "there is no partition 5"),
        (["--key", '{"nobody": 1}'], "there is no key column 'nobody'"),
        (["--key", '{"key": 5}'], "is of type string, which 5 is not"),
    ],
)
def test_what_is_not_there_is_refused(place: str, words: list[str], said: str) -> None:
    """With what is there."""
    shown = holdfast("state", place, *words)
    assert (shown.status, shown.out) == (2, "")
    assert said in " ".join(shown.err.split())


def test_a_key_that_is_not_there_is_a_finding(place: str) -> None:
    """Status 3, so that a script notices."""
    shown = holdfast("state", place, "--key", '{"key": "nobody"}')
    assert shown.status == 3
    assert "No rows." in shown.out
    assert "warning HF2775" in shown.out


def test_rows_of_a_file_that_does_not_match_its_checksum_are_an_error(place: str) -> None:
    """They are shown, and the exit status says that something was found."""
    checksum = Path(place) / "state/0/0/.1.delta.crc"
    data = checksum.read_bytes()
    checksum.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    shown = holdfast("state", place, "--json")
    assert shown.status == 3, shown.err
    (finding,) = shown.document["findings"]
    assert (finding["code"], finding["severity"]) == ("HF2111", "error")
    assert finding["at"].partition(" ")[0].endswith("state/0/0/1.delta")
    assert shown.document["result"]["rows"]


def test_no_state_and_no_checkpoint(tmp_path: Path) -> None:
    """Each is told for what it is."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    assert "has no state" in holdfast("state", str(root)).err
    assert holdfast("state", str(tmp_path / "nowhere")).status == 21


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--json"],
        ["--summary"],
        ["--where", "count > 1 and sum#2 < 99.5 and key != 'x'"],
        ["--key", '{"key": "birch"}'],
        ["--output", "rows.csv"],
        ["--output", "rows.parquet"],
        ["--output", "rows.jsonl"],
    ],
    ids=str,
)
def test_pandas_is_not_imported(place: str, words: list[str], tmp_path: Path) -> None:
    """It is installed here, and pyarrow imports it given half a chance; nobody waits for it."""
    program = (
        "import sys; from holdfast.cli.main import run\n"
        "assert run(['state', *sys.argv[1:]]) == 0\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, place, *words], check=True, cwd=tmp_path)


UNNEEDED = {
    "hashlib", "pandas", "pyarrow.compute", "pyarrow.csv", "pyarrow.dataset",
    "pyarrow.parquet", "pydantic", "pyspark", "rich", "tempfile", "yaml", "fsspec", "asyncio",
    "holdfast.state.query.conditions", "holdfast.state.query.exporting",
    "holdfast.state.query.summary",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("aggregation-hdfs-snapshots", set()),
        ("aggregation-hdfs-lz4", set()),
        ("aggregation-rocksdb-changelog-snapshots", {"rocksdict", "tempfile", "zipfile"}),
    ],
)
@pytest.mark.parametrize("words", [["--limit", "1"], ["--key", '{"key": "birch"}']], ids=str)
def test_first_rows_wait_for_nothing_that_they_do_not_need(
    name: str, needed: set[str], words: list[str], tmp_path: Path
) -> None:
    """An import takes longer than a hundred thousand rows; only RocksDB's own need RocksDB."""
    root = sample(name, "4.3.0").extract(tmp_path / "c")
    unneeded = {"rocksdict", "zipfile", *UNNEEDED} - needed
    program = (
        "import sys; from holdfast.cli.main import run\n"
        "assert run(['state', '--json', *sys.argv[1:]]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, str(root), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["result"]["rows"]
    assert not unneeded & set(done.stderr.split())


def test_a_secret_in_a_row_is_not_shown(tmp_path: Path) -> None:
    """Neither in text nor in JSON; a file holds the rows as they are."""
    root = sample("join", "4.3.0").extract(tmp_path / "c")
    remember_secret("birch")
    for words in ([], ["--json"]):
        assert "birch" not in holdfast("state", str(root), *words).out
    holdfast("state", str(root), "--output", str(tmp_path / "rows.jsonl"))
    assert "birch" in (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
