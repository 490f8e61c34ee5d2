"""Next steps: written once, as commands; filled in and translated for who reads them.

The text of a step has TARGET and JOB where names belong. Whoever answers a call fills them in,
repeats the options that chose the project, and gives a Python program arguments for options.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

Steps = tuple[str, ...]

_PLACEHOLDER = re.compile(r"(?<![\w./])(TARGET|JOB)(?![\w/]|\.\w)")
# `re` compiles these and keeps them: most answers need none of them.
_ON_PLACES = (
    r"apply|backups?|diff|doctor|evidence|inspect|journal|plan \w+|restore|state|status|undo"
)
_COMMAND = rf"(?<!`)\bholdfast (?:{_ON_PLACES}|check|run)\b(?= )(?! --pro)"
"""A command that reads a project; in backticks it is only spoken of."""
_ON_STORAGE = rf"(?<!`)\bholdfast (?:{_ON_PLACES})\b(?= )(?! --(?:pro|storage-option))"
"""One that takes options of the storage, which are given once for all: before --project."""


_TO_ASK = "TARGET --sink PATH"


def named_steps(steps: Steps, target: str | None, job: str | None = None) -> Steps:
    """Return next steps with the target and the job in place of TARGET and JOB, where known.

    A job declares its sink: it need not be named to a command that asks it.
    """
    names = {"TARGET": target, "JOB": job}
    if job is not None and target == job:
        steps = tuple(step.replace(_TO_ASK, "TARGET") for step in steps)

    def name_in(found: re.Match[str]) -> str:
        name = names[found[1]]
        return found[1] if name is None else shlex.quote(name)

    return tuple(_PLACEHOLDER.sub(name_in, step) for step in steps)


def lacks_job(steps: Steps) -> bool:
    """Whether a step still has JOB where a job's name belongs."""
    return any(found[1] == "JOB" for step in steps for found in _PLACEHOLDER.finditer(step))


def repeated_options(
    steps: Steps, options: tuple[str, ...], storage: tuple[str, ...] = ()
) -> Steps:
    """Return next steps whose commands repeat the options that chose the project, and those of the
    storage, which are written as a shell reads them."""
    if storage:
        shown = " ".join(storage)
        steps = tuple(re.sub(_ON_STORAGE, lambda at: f"{at[0]} {shown}", one) for one in steps)
    if not options:
        return steps
    words = shlex.join(options)
    return tuple(re.sub(_COMMAND, lambda found: f"{found[0]} {words}", step) for step in steps)


@dataclass(frozen=True)
class _Argument:
    """What an option of a command is in a call; `shown` makes its value from the option's."""

    name: str
    shown: Callable[[str], str] = repr
    value: str = r"[A-Z]+|\d+"
    """A pattern for the option's value where a step names one."""


def _quoted(value: str) -> str:
    return f'"{value}"'


def _listed(value: str) -> str:
    return f'["{value}"]'


def _named(value: str) -> str:
    name, _, text = value.partition("=")
    return f'{{"{name}": "{text}"}}'


_FLAGS = ("--even-if-running", "--force", "--force-protected", "--offline", "--verify")
_ARGUMENTS = {
    "--accept": _Argument("accept", _listed, r"HF\d{4}:\w+|[a-z-]+"),
    "--against": _Argument("against", _quoted),
    "--pending": _Argument(
        "pending_delivered", lambda stated: str(stated == "delivered"), r"(?:not-)?delivered"
    ),
    "--storage-option": _Argument("storage_options", _named, r"\w+=[^\s,]+(?: S3 endpoint>)?"),
    "--metrics-port": _Argument("metrics_port", str),
    **{
        f"--{name}": _Argument(name.replace("-", "_"), _quoted)
        for name in (
            "batch", "bundle", "key", "metrics-host", "output", "partition", "profile", "project",
            "sink", "sink-log-to", "store", "timeout", "to",
        )
    },
}  # fmt: skip
_OWN_NAMES = {("diff", "--from"): "from_batch", ("diff", "--to"): "to_batch"}
_STARTS = frozenset({"check", "run", "start"})
"""Functions of a program that starts its jobs itself, so that `holdfast run` is a call for it."""
_UNNAMED = "JOB"
_WORD = r"(?:'[^']*'|\S+)"
_COMMON = rf"(?:--pro\w+ {_WORD} )*(?P<job>{_WORD}) (?=--)"
_RUN = rf"holdfast (?P<command>run|check) {_COMMON}"
_TRACE = rf"holdfast run {_COMMON}--trace\b"
_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*\b(?![\w.])")
_OTHER_PROGRAM = re.compile(r"(?:\bpip |(?<!`)\bholdfast [a-z]+\b)(?:(?<=\s)'[^']*'|[^,;])*$")
"""A command; a comma ends it, unless it is inside of an argument in quotes."""


def steps_in_python(steps: Steps, called: str) -> Steps:
    """Return next steps for a program that called this function: its arguments, not options.

    A whole command stays: it can be typed in any shell. `holdfast run` is the exception, where the
    program itself starts the job: with `holdfast.start` where it is a DataFrame without a name.
    """
    return tuple(_in_python(step, called) for step in steps)


def _in_python(step: str, called: str) -> str:
    step = step.replace("holdfast --help", f"help(holdfast.{called})")
    again = ", or holdfast.run(…, verbose=True)" if called == "run" else ""
    step = re.sub(_TRACE, f"error.trace{again}", step)
    step = re.sub(r"--to another place", "to another place with --to", step)
    found = re.search(_RUN, step) if called in _STARTS else None
    option = None if found is None else _written(step, found.end(), called)
    if found is not None and option is not None:
        shown, end = option
        call = f"{step[: found.start()]}holdfast.{_call(found, called)}(…, {shown})"
        return call + _with_arguments(step[end:], called)
    return _with_arguments(step, called)


def _call(found: re.Match[str], called: str) -> str:
    """Return the function that does what a command does, for a program that called this one."""
    if found["command"] == "run" and called == "check":
        return "start" if found["job"] == _UNNAMED else "run"
    return called


def _with_arguments(text: str, called: str) -> str:
    shown, at = "", 0
    for found in _OPTION.finditer(text):
        written = _written(text, found.start(), called)
        if written is None or _OTHER_PROGRAM.search(text[: found.start()]):
            continue
        argument, end = written
        shown += text[at : found.start()] + argument
        at = end
    return shown + text[at:]


def _written(text: str, at: int, called: str) -> tuple[str, int] | None:
    """Return the argument that the option at this place is, and where it ends."""
    found = _OPTION.match(text, at)
    if found is None:
        return None
    option = found[0]
    if option in _FLAGS:
        return f"{option[2:].replace('-', '_')}=True", found.end()
    if (own := _OWN_NAMES.get((called, option))) is not None:
        return f"{own}=…", found.end()
    argument = _ARGUMENTS.get(option)
    if argument is None:
        return None
    value = re.compile(rf" ({argument.value})(?![\w])").match(text, found.end())
    if value is None:
        return f"{argument.name}=…", found.end()
    return f"{argument.name}={argument.shown(value[1])}", value.end()
