"""Hooks on failure: a real command and a real HTTP server get the document, within their time."""

from __future__ import annotations

import json
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from holdfast.findings import Finding, Severity
from holdfast.jobs.ready import FailureHook, ReadyJob
from holdfast.redaction import remember_secret
from holdfast.running.hooks import call_hook
from tests.parts.ports import free_port
from tests.spark.readyjobs import job as ready_job
from tests.spark.running.processes import wait_for

DOCUMENT = {"schema": "holdfast.run/1", "result": {"jobs": [{"job": "orders", "rows": 5}]}}
KEEP = "import sys; open('kept.json', 'wb').write(sys.stdin.buffer.read())"


def python(program: str) -> FailureHook:
    return FailureHook("holdfast.yaml:12", (sys.executable, "-c", program))


def with_hook(folder: Path, hook: FailureHook | None) -> ReadyJob:
    return replace(ready_job(folder), name="orders", on_failure=hook)


def words(found: Finding | None) -> str:
    assert found is not None
    assert (found.code, found.severity) == ("HF5314", Severity.WARNING)
    assert found.place.within("") == "holdfast.yaml:12"
    return found.message


@contextmanager
def server(status: int, *, answers: threading.Event | None = None) -> Iterator[tuple[str, Any]]:
    """Give the URL of a server, and the list of what was posted to it."""
    posted: list[tuple[str, str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append((self.path, self.headers["Content-Type"], json.loads(body)))
            if answers is not None:
                answers.wait(60)
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            """Print nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/hook/token-8f3a", posted
    finally:
        if answers is not None:
            answers.set()
        running.shutdown()
        running.server_close()


def test_a_command_gets_the_document_on_its_standard_input(tmp_path: Path) -> None:
    """In the project's folder, without a shell: what looks like shell syntax is a plain word."""
    assert call_hook(with_hook(tmp_path, python(KEEP)), DOCUMENT) is None
    assert json.loads((tmp_path / "kept.json").read_bytes()) == DOCUMENT
    echo = FailureHook("holdfast.yaml:12", ("echo", ">", "made-by-a-shell"))
    assert call_hook(with_hook(tmp_path, echo), DOCUMENT) is None
    assert not (tmp_path / "made-by-a-shell").exists()


def test_without_a_hook_nothing_is_called(tmp_path: Path) -> None:
    assert call_hook(with_hook(tmp_path, None), DOCUMENT) is None


def test_a_command_that_fails_is_a_warning(tmp_path: Path) -> None:
    """With its last words, without secrets; a program that is not there, as well."""
    remember_secret("s3cr3t-token")
    told = words(call_hook(with_hook(tmp_path, python("exit('no s3cr3t-token')")), DOCUMENT))
    assert "exit status 1: no [redacted]" in told and "s3cr3t" not in told
    missing = FailureHook("holdfast.yaml:12", ("./no-such-program",))
    told = words(call_hook(with_hook(tmp_path, missing), DOCUMENT))
    assert "./no-such-program cannot be run: no such file or directory" in told


def test_a_command_that_reads_nothing_is_fine(tmp_path: Path) -> None:
    """Also where the document is larger than a pipe holds."""
    large = {"message": "x" * 1_000_000}
    assert call_hook(with_hook(tmp_path, python("pass")), large) is None


def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    """With the processes that it started."""
    program = "sleep 600 & echo $! > child; wait"
    hook = FailureHook("holdfast.yaml:12", ("sh", "-c", program))
    told = words(call_hook(with_hook(tmp_path, hook), DOCUMENT, seconds=1.0))
    assert "sh did not end within 1 s and was killed" in told
    child = Path("/proc") / (tmp_path / "child").read_text().strip()
    wait_for(lambda: not child.exists() or " Z " in (child / "stat").read_text(), "its end")


def test_a_webhook_gets_the_document_as_the_body_of_a_post(tmp_path: Path) -> None:
    with server(204) as (url, posted):
        hook = FailureHook("holdfast.yaml:12", webhook=url)
        assert call_hook(with_hook(tmp_path, hook), DOCUMENT) is None
    assert posted == [("/hook/token-8f3a", "application/json", DOCUMENT)]


@pytest.mark.parametrize("status", [302, 403, 500])
def test_an_answer_that_is_no_success_is_a_warning(tmp_path: Path, status: int) -> None:
    """A redirect too: what follows it would carry no document. The URL is not shown."""
    with server(status) as (url, posted):
        hook = FailureHook("holdfast.yaml:12", webhook=url)
        told = words(call_hook(with_hook(tmp_path, hook), DOCUMENT))
    assert f"responded with status {status}" in told and "token-8f3a" not in told
    assert len(posted) == 1


def test_a_webhook_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    answers = threading.Event()
    with server(200, answers=answers) as (url, _):
        hook = FailureHook("holdfast.yaml:12", webhook=url)
        told = words(call_hook(with_hook(tmp_path, hook), DOCUMENT, seconds=0.2))
    assert "the webhook" in told and ("within 0.2 s" in told or "timed out" in told)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/x", "http://[::1", "http://a b/"])
def test_a_webhook_that_cannot_be_reached_is_a_warning(tmp_path: Path, url: str) -> None:
    hook = FailureHook("holdfast.yaml:12", webhook=url.format(port=free_port()))
    assert "the webhook cannot be reached" in words(call_hook(with_hook(tmp_path, hook), DOCUMENT))


def test_a_command_that_leaves_a_notifier_behind_has_succeeded(tmp_path: Path) -> None:
    """Its own end counts, not that of what it started."""
    leaves = "import subprocess as s; s.Popen(['sh', '-c', 'sleep 1; touch sent'])"
    assert call_hook(with_hook(tmp_path, python(leaves)), DOCUMENT, seconds=30) is None
    wait_for((tmp_path / "sent").exists, "the notifier, which nobody killed")


def test_a_command_that_floods_is_kept_short(tmp_path: Path) -> None:
    """Neither memory nor the message grows with what it says."""
    tracemalloc.start()
    floods = (
        "import sys; [sys.stderr.buffer.write(bytes(1 << 20)) for _ in range(200)]; sys.exit(1)"
    )
    found = words(call_hook(with_hook(tmp_path, python(floods)), DOCUMENT, seconds=60))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000
    assert found.endswith("ended with exit status 1")
