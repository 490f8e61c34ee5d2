"""Finds the page of a code or of a pasted error; the text itself is never shown again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from holdfast.answers import Answer, OneLine
from holdfast.codes import CODES, Code, code_of
from holdfast.errors import UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.wording import nearest

if TYPE_CHECKING:
    from holdfast.diagnosis.explain.pages import Page


class Kind(str, Enum):
    """What the page is about."""

    CODE = "code"
    """A code of Holdfast."""
    SPARK_ERROR = "spark-error"
    """An error of Spark."""
    NONE = "none"
    """Nothing: the text is not known here."""


@dataclass(frozen=True)
class CodeTitle:
    """A code of Holdfast and what it says."""

    code: str
    """Its number."""
    title: str
    """What is wrong."""


@dataclass(frozen=True, repr=False)
class Explanation(OneLine):
    """A page: what something means, what not to do and what to do."""

    SHOWN: ClassVar = ("kind", "code", "page", "title")
    COMMAND: ClassVar = "explain"

    code: str | None
    """The code's number; None where the page is about an error of Spark, or there is none."""
    title: str
    """What is wrong."""
    why: str
    """Why it matters: what it means for the checkpoint, the state and the sink."""
    next: tuple[str, ...]
    """What to do next, the safest first."""
    exit_status: int | None
    """The status of a command that the code stops; None where the page is not about a code."""
    kind: Kind = Kind.CODE
    """What the page is about."""
    page: str | None = None
    """The name of the page about an error of Spark."""
    matched: str | None = None
    """What it was found by: Spark's error class, or a part of Spark's message. Never the text that
    was given."""
    avoid: tuple[str, ...] = ()
    """Advice that is often given and is wrong here, each with its reason."""
    seen_by: tuple[CodeTitle, ...] = ()
    """The codes that detect it before the start."""
    unseen: str | None = None
    """Why no code detects it beforehand, if none does."""
    nearest: tuple[CodeTitle, ...] = ()
    """The codes whose words are nearest, where there is no page."""


_NUMBER = re.compile(r"\bHF\d{4}\b")
_WORD = re.compile(r"[a-z_]{4,}")
_SHOWN_NEAREST = 3
_COMMON = re.compile(
    "spark|that|this|with|from|have|been|will|java|lang|error|exception|when|what|there|which|"
    "caused|failed|value|file|files|none|null|type|name|does|into|than|only|line|most|call|recent"
)
"""Words that are in every error and identify none."""


def explain(text: str) -> Answer[Explanation]:
    """Return the page of a code, or the page that says most about a pasted error.

    >>> explain("HF2204").result.title
    'offsets/ has a gap just before its newest entry'
    """
    words = _words(text)
    if not words:
        raise UsageError("HF1001", "there is no text to explain")
    if re.fullmatch(r"(?i)HF\w*", words):
        return _answer(_of_code(_code(words.upper())))
    from holdfast.diagnosis.explain.pages.catalogue import find_page, page_named

    named = page_named(words)
    match = find_page(words) if named is None else None
    if named is not None:
        return _answer(_of_page(named, None))
    if match is not None and not match.page.wraps:
        return _answer(_of_page(match.page, match.matched))
    numbers = [one for one in _NUMBER.findall(words) if one in _registered()]
    if numbers:
        return _answer(_of_code(code_of(numbers[0])))
    if match is not None:
        return _answer(_of_page(match.page, match.matched))
    return _nothing(words)


def _words(given: object) -> str:
    if not isinstance(given, str):
        message = f"explain takes a code or the text of an error, not {type(given).__name__}"
        raise UsageError("HF1001", message)
    return given.strip()


def _answer(explanation: Explanation) -> Answer[Explanation]:
    return Answer("explain", explanation.code or explanation.page or "", explanation)


def _registered() -> dict[str, Code]:
    return {code.number: code for code in CODES}


def _code(number: str) -> Code:
    numbers = _registered()
    if number in numbers:
        return numbers[number]
    near = nearest(number, numbers, 0.6)
    hint = f"; the nearest is {near}" if near else ""
    raise UsageError("HF1001", f"this is not a Holdfast code{hint}")


def _of_code(code: Code) -> Explanation:
    return Explanation(code.number, code.title, code.why, code.next_steps, code.exit_status)


def _of_page(page: Page, matched: str | None) -> Explanation:
    return Explanation(
        code=None,
        title=page.title,
        why=page.means,
        next=page.steps,
        exit_status=None,
        kind=Kind.SPARK_ERROR,
        page=page.name,
        matched=matched,
        avoid=page.avoid,
        seen_by=tuple(CodeTitle(number, code_of(number).title) for number in page.codes),
        unseen=page.unseen or None,
    )


def _nothing(text: str) -> Answer[Explanation]:
    """Report that nothing is known; a warning, so that a script notices."""
    code = code_of("HF1004")
    explanation = Explanation(
        None,
        code.title,
        code.why,
        code.next_steps,
        None,
        Kind.NONE,
        nearest=_nearest(text),
    )
    finding = Finding("HF1004", Severity.WARNING, code.title, Place(""))
    return Answer("explain", "", explanation, (finding,))


def _nearest(text: str) -> tuple[CodeTitle, ...]:
    """Name the codes that share most words with the text; often none does."""
    given = _telling_words(text)
    shared = {
        code: len(given & _telling_words(f"{code.title} {code.why}"))
        for code in CODES
        if code.number.startswith("HF2")
    }
    best = sorted((code for code in shared if shared[code] > 1), key=lambda code: -shared[code])
    return tuple(CodeTitle(code.number, code.title) for code in best[:_SHOWN_NEAREST])


def _telling_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if not _COMMON.fullmatch(word)}
