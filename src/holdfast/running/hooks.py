"""Calls what a job names under `on_failure`, with the JSON document of the job's failure.

A hook never changes how the job ended. It has ten seconds, and what is wrong with it is a finding.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException

from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import FailureHook, ReadyJob
from holdfast.redaction import excerpt
from holdfast.running.report import JobOutcome

HOOK_SECONDS = 10.0
_LONGEST = 300
_LONGEST_WORDS = 8192
"""How many bytes of a command's standard error are kept."""
_LAST_WORDS_SECONDS = 1.0
"""How long the end of its standard error is waited for, once it has ended."""
_LOOK_SECONDS = 0.2
"""How often it is looked whether anybody still waits for an answer."""

CallHook = Callable[[ReadyJob, JobOutcome], Finding | None]
"""Tells a job's hook how the job ended, and returns what was wrong with the hook."""


class HookError(Exception):
    """The hook could not be called, or did not take the document."""


class HookCalls:
    """The calls of hooks in one run, each in a thread of its own."""

    def __init__(self, call: CallHook) -> None:
        self._call = call
        self._calls: dict[str, tuple[threading.Thread, list[Finding]]] = {}

    def begin(self, job: ReadyJob, outcome: JobOutcome) -> None:
        """Call the hook of a job beside whatever else goes on."""
        findings: list[Finding] = []

        def call() -> None:
            if (finding := self._call(job, outcome)) is not None:
                findings.append(finding)

        thread = threading.Thread(target=call, name=f"holdfast-hook-{job.name}", daemon=True)
        self._calls[job.name] = thread, findings
        thread.start()

    def answers(self, given_up: Callable[[], bool]) -> Iterator[tuple[str, tuple[Finding, ...]]]:
        """Wait for every call until `given_up`, and yield by job what was wrong, each once."""
        for name, (thread, findings) in self._calls.items():
            while thread.is_alive() and not given_up():
                thread.join(_LOOK_SECONDS)
            yield name, tuple(findings)
            findings.clear()


def call_hook(
    job: ReadyJob, document: Mapping[str, object], *, seconds: float = HOOK_SECONDS
) -> Finding | None:
    """Pass the document to a job's hook on standard input, or as the body of a POST.

    Return a warning where that failed, None where it was taken or the job has no hook.
    """
    hook = job.on_failure
    if hook is None:
        return None
    body = json.dumps(document, ensure_ascii=False).encode()
    try:
        if hook.webhook is not None:
            _post(hook.webhook, body, seconds)
        else:
            _run(hook, body, job, seconds)
    except HookError as error:
        message = f"on_failure of {job.name} was not notified: {excerpt(str(error), _LONGEST)}"
        return Finding("HF5314", Severity.WARNING, message, Place("", root=hook.at))
    return None


def _run(hook: FailureHook, body: bytes, job: ReadyJob, seconds: float) -> None:
    """Run the command in the project's folder, without a shell; end it when its time is over."""
    program = hook.command[0]
    try:
        process = subprocess.Popen(
            hook.command,
            cwd=job.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # Ctrl-C on the terminal is for the driver; the notification still goes out.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise HookError(f"{program} cannot be run: {reason}") from error
    talk = _Talk(process, body)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise HookError(f"{program} did not end within {seconds:g} s and was killed") from error
    if process.returncode:
        said = talk.last_line()
        raise HookError(f"{program} ended with exit status {process.returncode}{said}")


class _Talk:
    """Gives a command its document and keeps the end of what it says on standard error.

    The command's own end counts, not that of its pipes: what it left in the background may go on.
    """

    def __init__(self, process: subprocess.Popen[bytes], body: bytes) -> None:
        self._process = process
        self._said = b""
        self._heard = threading.Thread(target=self._hear, name="holdfast-hook", daemon=True)
        self._heard.start()
        threading.Thread(target=self._give, args=(body,), daemon=True).start()

    def last_line(self) -> str:
        """Return the last line on standard error behind a colon, or nothing."""
        self._heard.join(_LAST_WORDS_SECONDS)
        text = self._said.decode(errors="replace")
        lines = "".join(one if one.isprintable() else "\n" for one in text).split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f": {said[-1]}" if said else ""

    def _give(self, body: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as pipe:
            pipe.write(body)

    def _hear(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            while piece := os.read(pipe.fileno(), _LONGEST_WORDS):
                self._said = (self._said + piece)[-_LONGEST_WORDS:]


def _post(url: str, body: bytes, seconds: float) -> None:
    """Post the document; the whole exchange has the given time, however slowly it answers."""
    failures: list[HookError] = []
    thread = threading.Thread(
        target=_exchange, args=(url, body, seconds, failures), name="holdfast-webhook", daemon=True
    )
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise HookError(f"the webhook did not respond within {seconds:g} s")
    if failures:
        raise failures[0]


def _exchange(url: str, body: bytes, seconds: float, failures: list[HookError]) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "holdfast"}
    try:
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")
        # urllib would follow a redirect with a GET, which carries no document.
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(request, timeout=seconds):
            return
    except urllib.error.HTTPError as error:
        error.close()
        failures.append(HookError(f"the webhook responded with status {error.code}"))
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        failures.append(HookError(f"the webhook cannot be reached: {reason}"))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an answer that is not the wanted one."""

    def redirect_request(self, *_arguments: object, **_named: object) -> None:
        """Follow none."""
