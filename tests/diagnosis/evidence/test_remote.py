"""Evidence of a checkpoint and a sink on S3: the same nine facts as of a copy on disk."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.answers import plain
from holdfast.diagnosis.inspection.evidence import FACTS
from tests.corpus.loading import Sample, sample
from tests.storage.s3server import KEY, SECRET, S3Server

SAMPLES = (
    sample("stateless", "4.3.0"),
    sample("stateless-compacted", "4.3.0"),
    sample("aggregation-rocksdb", "4.3.0"),
    sample("delta", "4.2.0"),
    sample("delta-totals", "4.2.0"),
)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    running = S3Server()
    yield running
    running.stop()


def facts(
    base: str, one: Sample, options: tuple[str, ...] = ()
) -> tuple[dict[str, Any], list[str], bool]:
    """Gather the facts of `checkpoint` and `output` below a base, told without the base."""
    sink = f"{base}/output" if one.output_files() else None
    found = holdfast.evidence(f"{base}/checkpoint", sink=sink, storage_options=options).result
    shown = " ".join(f"--storage-option {one}" for one in options)
    for secret in (KEY, SECRET):
        shown = shown.replace(f"={secret}", "=[redacted]")
    text = json.dumps(plain(found)).replace(f" {shown}" if shown else base, "" if shown else "BASE")
    document = json.loads(text.replace(base, "BASE"))
    return {name: document[name] for name in FACTS}, document["missing"], document["ready"]


@pytest.mark.s3
@pytest.mark.parametrize("one", SAMPLES, ids=str)
def test_the_facts_are_those_of_the_local_copy(
    one: Sample, server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Object stores have neither folders nor Hadoop's checksums; nothing of it shows."""
    monkeypatch.chdir(tmp_path)
    bucket = f"bucket-{uuid.uuid4().hex}"
    files = {f"checkpoint/{path}": data for path, data in one.files().items()}
    files |= {f"output/{path}": data for path, data in one.output_files().items()}
    kept = {
        path: data for path, data in files.items() if not path.endswith(".crc") or "_delta" in path
    }
    server.fill(bucket, {f"base/{path}": data for path, data in kept.items()})
    before = server.keys_and_versions(bucket)
    one.extract(tmp_path)
    options = (
        f"endpoint={server.endpoint}",
        f"key={KEY}",
        f"secret={SECRET}",
        "region=us-east-1",
        "path_style=true",
    )
    remote = facts(f"s3://{bucket}/base", one, options)
    assert remote == facts(str(tmp_path), one)
    known = {name for name, fact in remote[0].items() if fact["basis"] != "unknown"}
    assert {"query_id", "source_offsets", "spark_version", "restart_history"} <= known
    assert ("sink" in known) == bool(one.output_files())
    assert server.keys_and_versions(bucket) == before
