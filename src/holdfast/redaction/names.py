"""Decides which names announce a secret, and what stands in a secret's place."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


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
