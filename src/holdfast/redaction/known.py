"""Which names announce a secret, which values are secrets, and what stands in their place.

A known value is found as it is, percent-encoded (whole or in part, either case, plus for blank),
JSON-escaped (also twice), and inside base64 at any of its three alignments.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import cache, lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit


def expression(source: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Return a function that compiles the expression on demand: most commands need few of them."""
    return cache(lambda: re.compile(source, flags))


# Spark's own default (secret, password, token, access.key) and what Hadoop, Kafka, Azure, JDBC
# and the clouds' tools call theirs.
SECRET_WORD = expression(
    r"secret(?!ar)|passw(?:or)?d|passphrase|(?<![a-z])pwd|(?<=[_.\-\"'])pass(?![a-z])"
    r"|token(?!i[sz])|credential|jaas\.config|authorization|cookie"
    r"|(?:access|account|api|encryption|master|private|shared|signing|subscription)[._-]?key"
    r"|keystore\.key|azure\.sas",
    re.IGNORECASE,
)

HINTS = (
    *("secret", "passw", "passphrase", "pwd", "pass", "token", "credential", "jaas.config"),
    *("authorization", "cookie", "key", "azure.sas"),
)
"""Lower-case texts of which every name that SECRET_WORD finds holds at least one."""

# What is about a secret without being one: where it lies, who makes it, how long it lives; and
# the classes and source files that handle it, which open lines of logs and traces.
_ABOUT = expression(
    r"(?:(?:^|[._\-a-z])(?:algorithm|cache|class|classname|column|count|enabled|endpoint|error"
    r"|exception|expires|expiry|factory|field|file|generator|handler|helper|identifier|impl|index"
    r"|interval|kind|length|lifetime|limit|location|manager|mode|name|owner|path|policy|providers?"
    r"|regex|renewer|required|schema|selector|serializer|server|service|size|spec|store|supported"
    r"|ttl|type|uri|url|utils?|version)s?(?:\.impl|_ms|_seconds|_in|_at)?"
    r"|\.(?:cc|cpp|go|h|jar|java|js|json|kt|log|parquet|py|scala|txt|ya?ml|xml))$",
    re.IGNORECASE,
)
# The names of S3's errors: ExpiredToken, InvalidAccessKeyId, MissingSecurityHeader.
_ERROR_NAME = expression(r"(?:Expired|Invalid|Malformed|Missing)[A-Z]")
_PACKAGES = ("org.apache.", "java.", "scala.", "com.amazonaws.", "software.amazon.")


def names_secret(name: str) -> bool:
    """Return whether a value under this name is to be kept from everybody's eyes."""
    if name.lower() == "pass":
        return True
    return SECRET_WORD().search(name) is not None and not is_about(name)


def is_about(name: str) -> bool:
    """Return whether a name with a secret's word in it only speaks about secrets, or is a class."""
    if "$" in name[1:] or name.startswith(_PACKAGES):
        return True
    return bool(_ERROR_NAME().match(name) or _ABOUT().search(name))


REDACTED = "[redacted]"

BLANK = "\ue020"
"""A private letter: while a percent-encoded text is looked at, its blanks must not end values."""


# Shorter values look like ordinary text: "1" would take every batch id with it.
_SHORTEST = 4
_SHORTEST_ANYWHERE = 6
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 5
_ORDINARY = frozenset({"true", "false", "null", "none", "http", "https"})

# JSON in JSON in JSON doubles them each time; without a bound, a run of them takes for ever.
_BACKSLASHES = r"\\{1,8}"
_JSON_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}


class KnownSecrets:
    """The values that are secrets, longest first, so that no value spoils one that holds it."""

    def __init__(self) -> None:
        # Replaced as a whole, never changed: another thread may be redacting with it.
        self._values: tuple[str, ...] = ()

    def remember(self, value: str) -> None:
        """Take this value for a secret, and with it the password and the lines in it."""
        parts = (value, value.strip(), *_passwords_in(value), *_long_lines_in(value))
        worth = {part for part in parts if _can_be_told(part)}
        values = {*self._values, *worth}
        self._values = tuple(sorted(values, key=lambda known: (-len(known), known)))

    def redact(self, text: str) -> str:
        """Replace every remembered value in the text."""
        for value in self._values:
            text = _redact_one(text, value)
        return text


_secrets = KnownSecrets()


def remember_secret(value: str) -> None:
    """Take this value for a secret from now on, for as long as the process lives."""
    _secrets.remember(value)


def redact_known(text: str) -> str:
    """Replace every value that was remembered."""
    return _secrets.redact(text)


def _can_be_told(part: str) -> bool:
    return len(part) >= _SHORTEST and part.lower() not in _ORDINARY and part not in REDACTED


def _passwords_in(value: str) -> list[str]:
    """Return what a client would print alone of a URL: its password and its secret parameters."""
    if "://" not in value:
        return []
    try:
        url = urlsplit(value)
        password = url.password or ""
    except ValueError:
        return []
    parameters = [text for name, text in parse_qsl(url.query) if names_secret(name)]
    return [password, unquote(password), *parameters]


def _long_lines_in(value: str) -> list[str]:
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(line) >= _SHORTEST_LINE] if len(lines) > 1 else []


def _redact_one(text: str, value: str) -> str:
    if value in text:
        text = _anywhere(value).sub(REDACTED, text)
    if "%" in text or "\\" in text or (" " in value and "+" in text):
        text = _escaped(value).sub(REDACTED, text)
    return _redact_in_base64(text, value)


def _redact_in_base64(text: str, value: str) -> str:
    for core in _base64_cores(value):
        if core in text:
            # The letters at the edges hold bits of the secret's first and last byte.
            text = re.sub(rf"[\w+/\-]?{re.escape(core)}[\w+/\-]?=*", REDACTED, text)
    return text


@lru_cache(maxsize=1024)
def _anywhere(value: str) -> re.Pattern[str]:
    return re.compile(_bounded(re.escape(value), value))


@lru_cache(maxsize=1024)
def _escaped(value: str) -> re.Pattern[str]:
    return re.compile(_bounded("".join(_forms_of(letter) for letter in value), value))


def _bounded(pattern: str, value: str) -> str:
    if len(value) >= _SHORTEST_ANYWHERE:
        return pattern
    return rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"


def _forms_of(letter: str) -> str:
    """Return an expression for one letter in every way that URLs and JSON write it."""
    percent = "".join(
        f"%(?:25){{0,3}}(?i:{byte:02x})" for byte in letter.encode("utf-8", "replace")
    )
    units = letter.encode("utf-16-be", "surrogatepass")
    unicode = "".join(
        rf"{_BACKSLASHES}u(?i:{units[index : index + 2].hex()})"
        for index in range(0, len(units), 2)
    )
    forms = [percent, unicode]
    if letter in _JSON_LETTERS:
        forms += [re.escape(letter), _BACKSLASHES + _JSON_LETTERS[letter]]
    elif letter == "\\":
        forms += [_BACKSLASHES]
    elif letter in "\"'/":
        forms += [rf"(?:{_BACKSLASHES})?{letter}"]
    else:
        forms += [re.escape(letter)] + ([r"\+"] if letter == " " else [])
    return f"(?:{'|'.join(forms)})"


@lru_cache(maxsize=1024)
def _base64_cores(value: str) -> tuple[str, ...]:
    """Return the letters that this value alone decides, for each place it can have among threes."""
    data = value.encode("utf-8", "replace")
    cores: list[str] = []
    for shift, undecided in ((0, 0), (1, 2), (2, 3)):
        letters = base64.b64encode(b"\0" * shift + data).decode()
        core = letters[undecided : (shift + len(data)) * 8 // 6]
        if len(core) >= _SHORTEST_BASE64:
            cores += {core, core.replace("+", "-").replace("/", "_")}
    return tuple(cores)
