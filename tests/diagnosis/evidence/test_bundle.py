"""The bundle: logs without rows, without secrets, the same bytes each time."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.checkpoint.layout import lay_out
from holdfast.diagnosis.evidence.bundle import LARGEST_BYTES, Packed, pack
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

ROWS = (".delta", ".snapshot", ".sst", ".changelog", ".zip", ".log")
MADE = {"evidence.json": b"{}\n", "evidence.md": b"# Evidence\n"}


def packed(files: dict[str, bytes]) -> Packed:
    """Pack files in memory."""
    reader = MemoryReader(files)
    layout = lay_out(reader.list().items)
    return pack(reader, layout.items, head={"schema": "holdfast.bundle/1"}, made=MADE)


def contents(bundle: Packed) -> dict[str, bytes]:
    """Unpack an archive."""
    with zipfile.ZipFile(io.BytesIO(bundle.data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(bundle: Packed) -> dict[str, Any]:
    """Give the manifest in an archive."""
    document: dict[str, Any] = json.loads(contents(bundle)["manifest.json"])
    return document


@over_samples("one", corpus())
def test_every_log_and_no_row_of_a_real_checkpoint(one: Sample) -> None:
    """All logs byte by byte, with digests of both; what is left out is counted with why."""
    files = dict(one.files())
    bundle = packed(files)
    inside = contents(bundle)
    told = manifest(bundle)
    assert not [name for name in inside if name.endswith(ROWS)]
    logs = {
        path
        for path in files
        if path.split("/")[0] in ("metadata", "offsets", "commits", "sources")
        and not path.endswith((".crc", ".tmp"))
    }
    assert logs <= {entry["path"] for entry in told["files"]}
    for entry in told["files"]:
        original = files[entry["path"]]
        assert entry["sha256"] == hashlib.sha256(original).hexdigest()
        stored = inside[entry["stored_as"]]
        assert entry["stored_sha256"] == hashlib.sha256(stored).hexdigest()
        assert (stored != original) == entry["redacted"]
    assert bundle.files == len(told["files"])
    assert bundle.left_out == sum(entry["files"] for entry in told["left_out"])
    assert bundle.files + bundle.left_out == len([path for path in files if path[-1] != "/"])
    # The corpus holds no secrets, so that nothing may be taken for one.
    assert bundle.redacted == 0


def test_schemas_and_operator_metadata_are_in_it() -> None:
    """What the state looks like, without what it holds."""
    names = set(contents(packed(files_of("transform-pandas-evolved"))))
    assert "checkpoint/state/0/_metadata/v2/3" in names
    assert any(name.startswith("checkpoint/state/0/_stateSchema/") for name in names)
    older = set(contents(packed(files_of("aggregation-hdfs-lz4"))))
    assert "checkpoint/state/0/0/_metadata/schema" in older
    assert "checkpoint/state/0/_metadata/metadata" in older


def test_the_same_checkpoint_gives_the_same_bytes() -> None:
    """Whatever the order and the clock."""
    files = files_of("join")
    backwards = dict(reversed(files.items()))
    assert packed(files).data == packed(backwards).data
    with zipfile.ZipFile(io.BytesIO(packed(files).data)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_whatever_is_not_known_stays_out() -> None:
    """Files of strangers, rows under other names, side files, temporary ones, large ones."""
    files = {
        "metadata": b'{"id":"x"}',
        "offsets/0": b"v1\n{}\n-",
        "offsets/.0.crc": b"crc",
        "offsets/.1.tmp": b"half",
        "dump.csv": b"rows",
        "state/0/0/1.delta": b"rows",
        "state/0/0/1_x.changelog": b"rows",
        "state/0/0/SSTs/1.sst": b"rows",
        "state/0/0/unforeseen": b"rows",
        "state/0/0/_metadata/1.snapshot": b"rows",
        "sources/0/0.compact": b"x" * (LARGEST_BYTES + 1),
        "sinks/rows": b"rows",
    }
    bundle = packed(files)
    inside = contents(bundle)
    assert set(inside) == {*MADE, "manifest.json", "checkpoint/metadata", "checkpoint/offsets/0"}
    assert b"rows" not in b"".join(inside[name] for name in inside if name != "manifest.json")
    reasons = {entry["folder"]: entry["reason"] for entry in manifest(bundle)["left_out"]}
    assert reasons[""] == "it is not a log of a checkpoint"
    assert reasons["state/0/0"] == "it may contain rows"
    assert reasons["state/0/0/_metadata"] == "it may contain rows"
    assert reasons["offsets"] == "it is a side file"
    assert reasons["sources/0"].startswith("it is larger than")


def secret_files() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Give one secret in every kind of place that a bundle takes."""
    secret = "s3Cr00-Zq919xK"
    url = f"postgresql://u:{secret}@db/gold".encode()
    yield "text", {"offsets/0": b'v1\n{"conf":{"url":"' + url + b'"}}\n-'}
    yield "name", {"commits/0": b'v1\n{"fs.s3a.secret.key":"' + secret.encode() + b'"}'}
    pair = b'{"options":[{"name":"db.password","value":"' + secret.encode() + b'"}]}'
    yield "pair", {"sources/0/0": b"v1\n" + pair}
    yield "named source", {"offsets/0": b"v2\n{}\norders:" + pair}
    yield "Kafka's mark", {"sources/0/0": b"\0v1\n" + pair}
    yield "binary", {"state/0/_stateSchema/default/0_x": b"\0\x01\xff\0" + url + b"\0"}
    yield "damaged", {"offsets/0": b'v1\n{"password":"' + secret.encode()}
    inner = b'{"credentials":{"inner":["' + secret.encode() + b'"]}}'
    yield "below a name", {"sources/0/0": b"v1\n" + inner}
    source = b"password=" + secret.encode()
    yield "source's name", {"offsets/0": b"v2\n{}\n" + source + b':{"a":1}'}
    yield "name of a file", {f"sources/password={secret}/0": b"v1\n{}"}
    yield "name of rows", {f"state/0/password={secret}/1.delta": b"rows"}


@pytest.mark.parametrize(
    ("place", "files"), list(secret_files()), ids=lambda value: str(value)[:12]
)
def test_no_secret_gets_in(place: str, files: dict[str, bytes]) -> None:
    """Neither content nor names."""
    bundle = packed({"metadata": b'{"id":"x"}', **files})
    inside = contents(bundle)
    text = b"\n".join([*(name.encode() for name in inside), *inside.values()])
    assert b"s3Cr00" not in text
    if place == "binary":
        (left_out,) = manifest(bundle)["left_out"]
        assert "binary" in left_out["reason"]
    elif place not in ("name of a file", "name of rows"):
        assert bundle.redacted == 1
        (entry,) = [entry for entry in manifest(bundle)["files"] if entry["redacted"]]
        assert entry["sha256"] != entry["stored_sha256"]


def test_two_names_that_look_alike_once_redacted_stay_two() -> None:
    """The second does not take the first one's place."""
    files = {
        "metadata": b'{"id":"x"}',
        "sources/password=s3Cr00-Zq919xK/0": b"v1\none",
        "sources/password=s3Cr01-Zq919xK/0": b"v1\ntwo",
    }
    inside = contents(packed(files))
    assert {b"v1\none", b"v1\ntwo"} <= {*inside.values()}


def test_a_file_that_vanishes_is_told() -> None:
    """It stays out, with the reason; the rest is packed."""
    files = files_of("stateless")
    items = lay_out(MemoryReader(files).list().items).items
    del files["offsets/1"]
    bundle = pack(MemoryReader(files), items, head={}, made=MADE)
    assert "checkpoint/offsets/2" in contents(bundle)
    reasons = [entry["reason"] for entry in manifest(bundle)["left_out"]]
    assert "it cannot be read: there is no file offsets/1" in reasons


@pytest.mark.parametrize("depth", [150, 400, 900, 100_000])
def test_json_too_deep_to_look_into_stays_out(depth: int) -> None:
    """A secret could be anywhere in it; the manifest names the reason, the rest is packed."""
    secret = b'{"password":"s3Cr00-Zq919xK"}'
    deep = b'{"a":[' * depth + secret + b"]}" * depth
    bundle = packed(
        {"metadata": b'{"id":"x"}', "offsets/0": b"v1\n" + deep, "commits/0": b"v1\n{}"}
    )
    inside = contents(bundle)
    assert {"checkpoint/metadata", "checkpoint/commits/0"} <= set(inside)
    assert b"s3Cr00" not in b"".join(inside.values())
    reasons = [entry["reason"] for entry in manifest(bundle)["left_out"]]
    if depth > 150:
        assert reasons == ["its JSON is nested too deeply to search it for secrets"]
