"""The one tree of errors that Holdfast raises; anything else that escapes is a bug.

HoldfastError
├── UsageError            HF10xx  the command line cannot be executed
├── ProjectError          HF11xx  holdfast.yaml: unreadable, unknown key, wrong value, no secret
├── CheckpointError       HF20xx  no checkpoint at this location, or an unreadable one
│   │                     HF25xx  evidence cannot be bundled
│   │                     HF45xx  a backup or restore that cannot or must not be done
│   └── DecodeError       HF21xx  bytes that are not what Spark writes; knows line and byte
├── PlanError             HF46xx  a remedy that is refused, a plan that is stale or interrupted
├── LeaseError            HF26xx  another process holds the checkpoint, or took it over
├── RefusedError          HF30xx  a start that would lose or duplicate rows
├── SinkError             HF50xx  the sink cannot or must not be written
├── SourceError           HF51xx  a source cannot be loaded, a transform not be applied
├── SparkStartError       HF52xx  Spark cannot start: Java, pyspark, jars, the session
├── RunError              HF53xx  a job failed while it ran
│   └── JvmDiedError      HF5304  Spark's JVM ended under the jobs (HF5305, HF5306: out of memory)
└── StorageError          HF70xx  the storage cannot be reached, listed, read or written
    └── NotFoundError     HF7001  it does not exist (any more)

HF22xx to HF24xx are findings only: nothing is raised with them.

Every error carries a code of the registry; the code decides the exit status and, where the raiser
has nothing better to say, the `why` and the `next` step. Foreign errors become one of these at one
border per library: `storage/errors.py` (file systems), `jobs/projectfile/yamlfile.py` (YAML),
`jobs/projectfile/translation.py` (pydantic), `spark/failures.py` (Spark), `cli/main.py` (click, and
the last resort).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from holdfast.codes import Code, code_of
from holdfast.redaction import redact

if TYPE_CHECKING:
    from holdfast.answers import Answer

_EXPLAIN = re.compile(r"holdfast explain (\S+)")


class HoldfastError(Exception):
    """Something went wrong that a person can act on."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        at: str | None = None,
        why: str | None = None,
        next_steps: tuple[str, ...] | None = None,
        trace: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Code = code_of(code)
        self.message = message
        self.at = at
        self.why = self.code.why if why is None else why
        self.next_steps = self.code.next_steps if next_steps is None else next_steps
        self.trace = trace
        """The full stack trace of Python or Java, without secrets; shown only on request."""
        self.unrecorded: HoldfastError | None = None
        """Why the attempt to start that this error ended could not be recorded."""
        self.job: str | None = None
        """The job of a run that it ended."""
        self.answer: Answer[Any] | None = None
        """What the run answers nevertheless: the reports of all jobs, also of those that ended
        well."""

    def __str__(self) -> str:
        """Return all that a person needs, without secrets: what a traceback ends with."""
        job = "" if self.job is None else f"{self.job}: "
        lines = [f"{self.code.number}: {job}{redact(self.message)}"]
        lines += [f"  at    {redact(self.at)}"] if self.at else []
        lines += [f"  why   {redact(self.why)}"] if self.why else []
        lines += [f"  next  {redact(step)}" for step in self.next_steps]
        return "\n".join(lines)

    @property
    def exit_status(self) -> int:
        """The status that a command ends with when this error stops it."""
        return self.code.exit_status

    @property
    def page(self) -> str:
        """What `holdfast explain` is given to explain it: what a next step names, or the code."""
        named = (_EXPLAIN.fullmatch(step) for step in self.next_steps)
        return next((step[1] for step in named if step is not None), self.code.number)


class UsageError(HoldfastError):
    """The command line cannot be executed."""


class ProjectError(HoldfastError):
    """The project file, or what it refers to, is not usable."""


class CheckpointError(HoldfastError):
    """There is no checkpoint at this location, or it cannot be read."""


class DecodeError(CheckpointError):
    """Bytes that are not what Spark writes there; `line` counts from 1, `byte` from 0."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        line: int | None = None,
        byte: int | None = None,
        why: str | None = None,
        overlooked: bool = False,
    ) -> None:
        super().__init__(code, message, why=why)
        self.line = line
        self.byte = byte
        self.overlooked = overlooked
        """Spark itself does not notice: it reads on, with whatever the bytes now say."""


class LeaseError(HoldfastError):
    """Another driver holds the checkpoint, or took it over."""


class RefusedError(HoldfastError):
    """A start that would lose or duplicate rows, or for which this cannot be ruled out."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        at: str | None = None,
        why: str | None = None,
        next_steps: tuple[str, ...] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(code, message, at=at, why=why, next_steps=next_steps)
        self._status = status

    @property
    def exit_status(self) -> int:
        """The status of the verdict on the start, where it is not the code's own."""
        return self.code.exit_status if self._status is None else self._status


class PlanError(HoldfastError):
    """A remedy that is refused, or a plan that cannot be read, applied or undone."""


class SinkError(HoldfastError):
    """The sink cannot be written, or must not be."""


class SourceError(HoldfastError):
    """A source cannot be loaded, or the user's transform cannot be applied to it."""


class SparkStartError(HoldfastError):
    """Spark cannot start here."""


class RunError(HoldfastError):
    """A job failed while it ran."""


class JvmDiedError(RunError):
    """Spark's JVM ended while jobs ran: no job runs any more, and none can start in it."""


class StorageError(HoldfastError):
    """The storage cannot be reached, listed or read."""


class NotFoundError(StorageError):
    """Nothing is at that place, or it vanished while we looked."""
