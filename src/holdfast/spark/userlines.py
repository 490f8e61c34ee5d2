"""Finds the user's own line in an error: theirs is the deepest one that no library wrote.

Where Spark fails while it runs a query, the line that had it run says nothing about the cause: such
an error has no line. One that Spark finds while a query is built has.
"""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.errors.exceptions.captured import CapturedException

import holdfast
from holdfast.redaction import excerpt
from holdfast.spark.sparkwords import spark_words

_LONGEST_MESSAGE = 300
_HERE = Path(holdfast.__file__).parent
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_LIBRARIES = frozenset(("site-packages", "dist-packages", "pyspark.zip"))
_GENERATED = ("<frozen", "<string>")

_BEGINNING = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ *File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)

_OF_RUNNING = re.compile(
    r"(?:py4j\.protocol\.Py4J|pyspark\.errors\.exceptions\.captured\.(?!Analysis|Parse))\w+"
)
"""The names of errors that Spark raises while it runs a query, as Python prints them."""

Frame = tuple[str, int]


@dataclass(frozen=True)
class UserLine:
    """A line of the user's, and what was raised there."""

    file: str
    """Relative to the project's folder where it is in it."""
    line: int
    kind: str
    """The class of the exception."""
    message: str
    """Its first line, without secrets, bounded."""

    @property
    def at(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"

    @property
    def shown(self) -> str:
        """Place and error in one line."""
        raised = f"{self.kind}: {self.message}" if self.message else self.kind
        return f"{self.at} {raised}"


def user_line(error: BaseException, folder: Path) -> UserLine | None:
    """Find the user's line in an exception that was raised in this process."""
    if _is_of_running(error):
        return None
    frames = [(one.filename, one.lineno or 0) for one in traceback.extract_tb(error.__traceback__)]
    message = str(error)
    if isinstance(error, PySparkException):
        message = spark_words(error).shown
    if isinstance(error, SyntaxError) and error.filename is not None:
        frames.append((error.filename, error.lineno or 0))
        message = error.msg
    return _line(_deepest(frames, folder), type(error).__name__, message, folder)


def user_line_in(text: str, folder: Path) -> UserLine | None:
    """Find the user's line in the text of an exception that another process raised."""
    for block in reversed(text.split(_BEGINNING)[1:]):
        found = [*_FRAME.finditer(block)]
        frame = _deepest([(one["file"], int(one["line"])) for one in found], folder)
        if frame is not None:
            kind, _, message = _raised(block[found[-1].end() :]).partition(": ")
            if not _OF_RUNNING.fullmatch(kind):
                return _line(frame, kind.rpartition(".")[2], message, folder)
    return None


def _is_of_running(error: BaseException) -> bool:
    built = isinstance(error, AnalysisException)
    return isinstance(error, (CapturedException, Py4JError)) and not built


def class_raised_in(text: str) -> str | None:
    """Name the class of the exception that the last traceback in a text ends with."""
    found = [*_FRAME.finditer(text)]
    kind = _raised(text[found[-1].end() :]).partition(":")[0] if found else ""
    return kind.rpartition(".")[2] or None


def _raised(after: str) -> str:
    """Give the line that ends a traceback: the first one that is not indented."""
    lines = after.splitlines()[1:]
    return next((line for line in lines if line.strip() and not line.startswith((" ", "\t"))), "")


def _deepest(frames: Iterable[Frame], folder: Path) -> Frame | None:
    """Prefer the project's folder: a callable of the user's may be called from elsewhere."""
    own = [frame for frame in frames if not _is_library(frame[0])]
    inside = [frame for frame in own if _is_below(Path(frame[0]), folder)]
    return next(reversed(inside or own), None)


def _is_library(file: str) -> bool:
    path = Path(file)
    return (
        file.startswith(_GENERATED)
        or not _LIBRARIES.isdisjoint(path.parts)
        or _is_below(path, _HERE)
        or _is_below(path, _STANDARD_LIBRARY)
    )


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or path.is_relative_to(folder.resolve())


def _line(frame: Frame | None, kind: str, message: str, folder: Path) -> UserLine | None:
    if frame is None:
        return None
    path = Path(frame[0])
    for base in (folder, folder.resolve()):
        if path.is_relative_to(base):
            path = path.relative_to(base)
    first = next(filter(None, (line.strip() for line in message.splitlines())), "")
    return UserLine(str(path), frame[1], kind, excerpt(first, _LONGEST_MESSAGE))
