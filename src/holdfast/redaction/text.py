"""Redacts texts and JSON-like data: encodings first, then known secrets, then likely ones.

Encodings come first because a known value that is cut out of the middle of one leaves two halves
that nobody can decode, and so recognise, any more.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from urllib.parse import quote, unquote

from holdfast.redaction.known import BLANK, REDACTED, expression, names_secret, redact_known
from holdfast.redaction.patterns import redact_assignments, redact_shapes

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
    """Return the redacted text with the letters that stayed in the encoding that they had."""
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


# A URL in a URL's query in a base64 header: nobody nests deeper by accident.
_DEEPEST = 4


def redact(text: str) -> str:
    """Return the text with every secret in it replaced by `[redacted]`."""
    return _redact(text, _DEEPEST)


def looks_secret(text: str) -> bool:
    """Return whether something in a text looks like a secret, whatever is remembered as one."""
    return redact_assignments(redact_shapes(text)) != text


def _redact(text: str, depth: int) -> str:
    if depth:
        inner = partial(_redact, depth=depth - 1)
        text = redact_base64(redact_percent_encoded(text, inner), inner)
    return redact_assignments(redact_shapes(redact_known(text)))


_SEEN = 4096
"""Far more than any message shows, so that what is cut off here can't be half shown there."""


def excerpt(text: str, width: int) -> str:
    """Return the beginning of a text without secrets, with an ellipsis where it was cut."""
    clean = redact(text[:_SEEN])
    return clean if len(clean) <= width else clean[: width - 1].rstrip() + "…"


def redact_value(value: object) -> object:
    """Return the same data without secrets; what stands under a secret's name is replaced whole."""
    if isinstance(value, str):
        redacted = redact(value)
        return value if redacted == value else redacted
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, tuple):
        return tuple(redact_value(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [redact_value(item) for item in value]
    return value


def _redact_mapping(mapping: Mapping[object, object]) -> dict[object, object]:
    redacted = {redact_value(key): _redact_item(key, value) for key, value in mapping.items()}
    name = mapping.get("name", mapping.get("key"))
    if isinstance(name, str) and isinstance(mapping.get("value"), str) and names_secret(name):
        redacted["value"] = REDACTED
    return redacted


def _redact_item(key: object, value: object) -> object:
    harmless = value is None or isinstance(value, bool) or value == ""
    if harmless or not isinstance(key, str) or not names_secret(key) or _is_offsets(value):
        return redact_value(value)
    return REDACTED


def _is_offsets(value: object) -> bool:
    """Return whether this is partitions with their offsets: a topic may well be called `tokens`."""
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and key.isdigit() and isinstance(offset, int)
        for key, offset in value.items()
    )
