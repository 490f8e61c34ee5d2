"""What a command answers: one typed result from which every face, JSON included, is drawn."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial, wraps
from operator import attrgetter
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Severity, worst
from holdfast.redaction import excerpt, redact, redact_value
from holdfast.steps import Steps, named_steps, steps_in_python

FINDINGS_STATUS = 3
"""Exit status of a command that found something of warning or worse."""

_SHORT = 80
"""Maximum length of a string in a `repr`."""

Result = TypeVar("Result")
Answered = TypeVar("Answered", bound="Answer[Any]")
Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")
Change = Callable[[Steps], Steps]


@dataclass(frozen=True, repr=False)
class Answer(Generic[Result]):
    """The result of a command with its findings and the commands that help next.

    >>> Answer("inspect", "checkpoints/orders", None)
    <Answer inspect location='checkpoints/orders' status='ok' findings=0>
    """

    command: str
    location: str
    result: Result
    findings: tuple[Finding, ...] = ()
    next_steps: tuple[str, ...] = ()
    ending: int | None = None
    """The exit status, where the command's own acts decide it and not its findings."""
    notebook: ClassVar[Callable[[Answer[Any]], str | None] | None] = None
    """Draws an answer as HTML; a face sets it, which stands above all that answers."""

    def __repr__(self) -> str:
        """Name the command, where it looked, and how many findings of each severity there are."""
        counts = Counter(one.severity.value for one in self.findings)
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        findings = f"{len(self.findings)}{f' ({kinds})' if kinds else ''}"
        where = _short(self.location)
        name = type(self).__name__
        return (
            f"<{name} {self.command} location={where} status={self.status!r} findings={findings}>"
        )

    def _repr_html_(self) -> str | None:
        """Return the page that a terminal shows, as HTML without secrets, for notebooks."""
        draw = type(self).notebook
        return None if draw is None else draw(self)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON document of this answer, as `--json` prints it, without secrets.

        >>> Answer("inspect", "checkpoints/orders", None).to_dict()["schema"]
        'holdfast.inspect/1'
        """
        return self.document(__version__)

    @property
    def status(self) -> str:
        """`findings` where something is of warning or worse, else `ok`."""
        severity = worst(self.findings)
        return "findings" if severity and severity.rank >= Severity.WARNING.rank else "ok"

    @property
    def exit_status(self) -> int:
        """The status that the command ends with."""
        if self.ending is not None:
            return self.ending
        return FINDINGS_STATUS if self.status == "findings" else 0

    def named(self: Answered, target: str | None, job: str | None = None) -> Answered:
        """Return the same answer with the target and the job named in every next step."""
        return self.with_steps(partial(named_steps, target=target, job=job))

    def with_steps(self: Answered, change: Change) -> Answered:
        """Return the same answer with every next step changed, also those of findings."""
        findings = tuple(
            dataclasses.replace(one, next_steps=change(one.next_steps)) for one in self.findings
        )
        return dataclasses.replace(self, findings=findings, next_steps=change(self.next_steps))

    def document(self, version: str) -> dict[str, object]:
        """Return the JSON document of this answer, without secrets."""
        return {
            **_head(self.command, version, self.status),
            "result": redact_value(plain(self.result)),
            "findings": [finding_document(one, self.location) for one in self.findings],
            "next": [redact(step) for step in self.next_steps],
            "error": None,
        }

    def redacted(self) -> Answer[Result]:
        """Return the same answer without secrets, for a face that draws from the typed result."""
        clean: Answer[Result] = _redacted(self)  # type: ignore[assignment]
        return clean


class OneLine:
    """A result with a short `repr`, and a page in notebooks."""

    SHOWN: ClassVar[tuple[str, ...]] = ()
    """The fields that `repr` names; of a tuple it gives the length."""
    COMMAND: ClassVar[str | None] = None
    """The command whose page shows it; None where none does."""

    def __repr__(self) -> str:
        """Name the fields that matter most in one line, without secrets."""
        pairs = [f"{path}={_short(attrgetter(path)(self))}" for path in self.SHOWN]
        return f"<{' '.join([type(self).__name__, *pairs])}>"

    def _repr_html_(self) -> str | None:
        """Return the page that a terminal shows, as HTML without secrets, for notebooks."""
        if self.COMMAND is None:
            return None
        return Answer(self.COMMAND, str(getattr(self, "location", "")), self)._repr_html_()


def _short(value: object) -> str:
    """Return a value in few words: a string without secrets and not too long, a tuple's length."""
    if isinstance(value, (tuple, Mapping)):
        return str(len(value))
    return repr(excerpt(text, _SHORT)) if isinstance(text := plain(value), str) else repr(text)


@dataclass(frozen=True)
class Stopped:
    """What Ctrl-C left as it was; a KeyboardInterrupt carries it to the user."""

    sentence: str


@contextmanager
def changing_steps(change: Change) -> Iterator[None]:
    """Change the next steps of an error that is raised inside, and of the answer that it has."""
    try:
        yield
    except HoldfastError as error:
        error.next_steps = change(error.next_steps)
        if error.answer is not None:
            error.answer = error.answer.with_steps(change)
        raise
    except KeyboardInterrupt as stopped:
        # Ctrl-C in the middle of an act carries what it left open.
        for open_act in stopped.args:
            if isinstance(open_act, HoldfastError):
                open_act.next_steps = change(open_act.next_steps)
        raise


def naming(target: str | None, job: str | None = None) -> AbstractContextManager[None]:
    """Name the target and the job in the next steps of an error that is raised inside."""
    return changing_steps(partial(named_steps, target=target, job=job))


@cache
def in_python(function: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
    """Let the next steps that a function answers or raises name its arguments, not options."""
    change = partial(steps_in_python, called=function.__name__)

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Given:
        with changing_steps(change):
            given = function(*args, **kwargs)
        return given.with_steps(change) if isinstance(given, Answer) else given

    return call


def error_document(command: str, version: str, error: HoldfastError) -> dict[str, object]:
    """Return the JSON document of a command that an error stopped, without secrets."""
    return {
        **_head(command, version, "error"),
        "result": None,
        "findings": [],
        "next": [redact(step) for step in error.next_steps],
        "error": {
            "code": error.code.number,
            "message": redact(error.message),
            "at": redact(error.at) if error.at is not None else None,
            "why": redact(error.why),
            "next": [redact(step) for step in error.next_steps],
        },
    }


def finding_document(finding: Finding, location: str) -> dict[str, object]:
    """Return a finding's JSON, without secrets."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": redact(finding.message),
        "at": redact(finding.place.within(location)),
        "evidence": redact_value(plain(finding.evidence)),
        "why": redact(finding.why),
        "next": [redact(step) for step in finding.next_steps],
    }


def plain(value: object) -> object:
    """Turn dataclasses, enums and tuples into what JSON knows; numbers stay numbers."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def _redacted(value: object) -> object:
    """Rebuild a value with every text in it redacted; types stay as they are."""
    if isinstance(value, Enum):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **{one: _redacted(getattr(value, one)) for one in names})
    if isinstance(value, tuple):
        return tuple(_redacted(one) for one in value)
    return redact_value(value)


def _head(command: str, version: str, status: str) -> dict[str, object]:
    return {
        "schema": f"holdfast.{command}/1",
        "holdfast": version,
        "command": command,
        "status": status,
    }
