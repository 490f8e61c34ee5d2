"""Takes Spark's own words out of an error: its error class and one sentence, no Java."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from holdfast.redaction import excerpt

_LONGEST_SENTENCE = 400
_AROUND = frozenset(
    (
        "FAILED_EXECUTE_UDF",
        "FOREACH_BATCH_USER_FUNCTION_ERROR",
        "FOREACH_USER_FUNCTION_ERROR",
        "STREAM_FAILED",
        "TASK_WRITE_FAILED",
    )
)
"""Error classes that only say that something inside of them failed."""

_DESCRIPTION = "\n=== Streaming Query ==="
_ENDED = "terminated with exception: "
_STATE = re.compile(r"\.?\s*SQLSTATE: \w{5};?")
_CONDITION = re.compile(
    r"(?:^|(?<=: ))\[(?P<kind>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] ?(?P<sentence>.*)", re.MULTILINE
)
_CAUSE = re.compile(r"^Caused by: (.*)$", re.MULTILINE)
_JAVA = re.compile(
    r"(?:[a-z][\w$]*\.)+(?P<kind>[A-Z][\w$]*(?:Exception|Error))(?:: (?P<sentence>.*)|$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class SparkWords:
    """What Spark says of an error."""

    condition: str | None
    """Spark's error class, such as `DIVIDE_BY_ZERO`; many errors have none."""
    kind: str
    """The error class, or the class of the exception where there is none."""
    sentence: str
    """Its first line, without secrets, bounded."""

    @property
    def shown(self) -> str:
        """Class and sentence as Spark writes them."""
        return f"[{self.condition}] {self.sentence}" if self.condition else self.sentence


def spark_words(error: BaseException) -> SparkWords:
    """Give what Spark, or the Java below it, says of an error in one line."""
    text = str(error).partition(_DESCRIPTION)[0]
    for found in _CONDITION.finditer(text):
        if found["kind"].partition(".")[0] not in _AROUND:
            return SparkWords(found["kind"], found["kind"], _sentence(found["sentence"]))
    words = _java_words(text)
    if words is None:
        return SparkWords(None, type(error).__name__, _sentence(_first_line(text)))
    return _with_cause(words, text)


def _with_cause(words: SparkWords, text: str) -> SparkWords:
    """Add what failed at the bottom, where Spark's own sentence only says that something did."""
    causes = _CAUSE.findall(text)
    cause = _java_words(causes[-1]) if causes else None
    if cause is None or cause.sentence in words.sentence or not _CONDITION.search(words.sentence):
        return words
    return replace(words, sentence=f"{words.sentence} ({cause.sentence})")


def _java_words(text: str) -> SparkWords | None:
    """Follow an exception that only carries another one to the one that says something."""
    found = _JAVA.search(text)
    while found is not None and (inner := _JAVA.match(found["sentence"] or "")):
        found = inner
    if found is None:
        return None
    sentence = _sentence(found["sentence"] or "")
    shown = f"{found['kind']}: {sentence}" if sentence else found["kind"]
    return SparkWords(None, found["kind"], shown)


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.partition(_ENDED)[2].splitlines() or text.splitlines())
    return next(filter(None, lines), "")


def _sentence(line: str) -> str:
    return excerpt(_STATE.sub("", line).strip(" .;"), _LONGEST_SENTENCE)
