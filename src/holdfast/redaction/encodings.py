"""Looks for secrets inside percent-encoded and base64 texts, and replaces them there."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import quote, unquote

from holdfast.redaction.expression import expression
from holdfast.redaction.marker import BLANK, REDACTED

_PERCENT = expression(r"%[0-9A-Fa-f]{2}")
_UNIT = expression(
    r"%[c-fC-F][0-9A-Fa-f](?:%[89abAB][0-9A-Fa-f]){1,3}|%[0-9A-Fa-f]{2}|.", re.DOTALL
)
_WORD = expression(r"[^\s\"'<>\\]+")
_BASE64 = expression(r"(?:[A-Za-z0-9+/]{60,76}\r?\n)*[A-Za-z0-9+/_\-]{12,}={0,2}")
_BASIC = expression(r"\bbasic[ \t\ue020]{1,4}$", re.IGNORECASE)
_PIECE = expression(r"[^/]{12,}")
_URL_SAFE = str.maketrans("-_", "+/")
_CONTROL = expression(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def redact_percent_encoded(text: str, inner: Callable[[str], str]) -> str:
    """Redact what percent-encoding hides; all other letters stay encoded as they were."""
    if "%" not in text or not _PERCENT().search(text):
        return text

    def word_without_secrets(match: re.Match[str]) -> str:
        word = match[0]
        if not _PERCENT().search(word):
            return word
        if "+" in word:
            word = _redact_units(word, inner, plus=BLANK)
        return _redact_units(word, inner, plus="+")

    return _WORD().sub(word_without_secrets, text)


def _redact_units(word: str, inner: Callable[[str], str], *, plus: str) -> str:
    units = _UNIT().findall(word)
    plain = "".join(plus if unit == "+" else _letter_of(unit) for unit in units)
    redacted = inner(plain)
    return word if redacted == plain else _encoded_again(redacted, plain, units)


def _letter_of(unit: str) -> str:
    letter = unit if len(unit) == 1 else unquote(unit)
    # A decoded blank must not end the value that it belongs to.
    return BLANK if letter.isspace() else letter[:1]


def _encoded_again(redacted: str, plain: str, units: list[str]) -> str:
    """Give the redacted text with the letters that stayed in the encoding that they had."""
    pieces: list[str] = []
    position = 0
    for piece in redacted.split(REDACTED):
        found = plain.find(piece, position)
        if found < 0:
            return quote(redacted.replace(BLANK, " "), safe="[]")
        pieces.append("".join(units[found : found + len(piece)]))
        position = found + len(piece)
    return REDACTED.join(pieces)


def redact_base64(text: str, inner: Callable[[str], str]) -> str:
    """Replace base64 words that decode to text with a secret in it."""

    def decoded(match: re.Match[str]) -> str:
        word = match[0]
        plain = _text_of(word)
        if plain is None:
            return _PIECE().sub(_piece, word) if "/" in word else word
        basic = ":" in plain and _BASIC().search(text, max(0, match.start() - 12), match.start())
        return REDACTED if basic or inner(plain) != plain else word

    def _piece(match: re.Match[str]) -> str:
        plain = _text_of(match[0])
        return match[0] if plain is None or inner(plain) == plain else REDACTED

    return _BASE64().sub(decoded, text)


def _text_of(word: str) -> str | None:
    letters = re.sub(r"[\r\n=]", "", word).translate(_URL_SAFE)
    try:
        text = base64.b64decode(letters + "=" * (-len(letters) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return None if _CONTROL().search(text) else text
