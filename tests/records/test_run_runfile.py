"""A run as bytes and back, without secrets."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from holdfast.records.documents import UnreadableError
from holdfast.records.run import (
    KEPT_BATCHES,
    LONGEST_MESSAGE,
    LONGEST_PLAN,
    BatchNote,
    Failure,
    PlanFacts,
    Run,
    SinkFacts,
    Versions,
    decode_run,
    encode_run,
)
from holdfast.redaction import remember_secret
from tests.records.runs import some_run

BARE = Run("orders", None, "file:///c", 1, Versions("0", "4", "17", "3"), "2026-01-01T00:00:00Z")


@pytest.mark.parametrize("run", [some_run(), BARE], ids=["full", "bare"])
def test_a_run_comes_back_as_it_was(run: Run) -> None:
    content = encode_run(run)
    assert decode_run(content) == run
    assert encode_run(decode_run(content)) == content
    assert content == json.dumps(json.loads(content), sort_keys=True).encode("ascii") + b"\n"


def test_a_record_of_before_is_read() -> None:
    """It says nothing of what the sink held, and of what was accepted."""
    document = json.loads(encode_run(some_run()))
    del document["accepted"]
    for name in ("place", "incarnation", "held", "since"):
        del document["sink"][name]
    run = decode_run(json.dumps(document).encode())
    assert (run.batches, run.accepted) == (3, ())
    assert run.sink == SinkFacts("delta", "file:///lake/orders", "append", "exactly-once")


def test_no_secret_is_written_wherever_it_stands() -> None:
    secret = "correct-horse-battery-staple"
    remember_secret(secret)
    run = replace(
        some_run(),
        settings={
            "spark.hadoop.fs.s3a.secret.key": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
            "spark.app.comment": f"uses {secret}",
            "spark.sql.shuffle.partitions": "8",
        },
        sink=SinkFacts("jdbc", f"postgresql://gold:{secret}@db/gold", "append", "exactly-once"),
        plan=PlanFacts(text=f"Relation jdbc options(password={secret})"),
        failure=Failure("X", "HF5301", "login failed with password=hunter2secret", None),
        trigger=secret,
        taken_over=f"job {secret}",
    )
    content = encode_run(run).decode("ascii")
    for one in (secret, "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "hunter2secret"):
        assert one not in content
    again = decode_run(content.encode())
    assert again.settings["spark.sql.shuffle.partitions"] == "8"
    assert len(again.settings) == 3


def test_names_that_sound_like_secrets_do_not_spoil_digests_and_offsets() -> None:
    run = replace(
        some_run(), plan=PlanFacts(code={"password": "ab" * 32, "secret/token.py": "cd" * 32})
    )
    assert decode_run(encode_run(run)) == run


def test_a_record_stays_small() -> None:
    notes = tuple(BatchNote(number, 1, "2026-01-01T00:00:00Z", 0.1) for number in range(5000))
    run = replace(
        some_run(),
        recent=notes,
        plan=PlanFacts(text="x " * 10**6),
        failure=Failure("X", "HF5301", "y " * 10**6),
    )
    content = encode_run(run)
    again = decode_run(content)
    assert again.recent == notes[-KEPT_BATCHES:]
    assert len(content) < LONGEST_PLAN + LONGEST_MESSAGE + 32 * 1024


@pytest.mark.parametrize("content", [b"", b"{}", b'{"job": 1}', b"\x00" * 100])
def test_other_bytes_are_no_run(content: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode_run(content)
