"""Texts that become facts: without secrets, bounded, and different when their sources are."""

from __future__ import annotations

import hashlib

from holdfast.records.facts import CUT
from holdfast.redaction import names_secret, redact

LONGEST = 2_000
"""How many characters of one text are kept."""


def digest(text: str) -> str:
    """Return the digest of a text, as facts show it."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def bounded(text: str) -> str:
    """Return the text; where it is long, its beginning and the digest of the whole."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}{CUT}{digest(text).partition(':')[2]}"


def without_secrets(text: str) -> str:
    """Return the text, or its digest where something in it is or looks like a secret."""
    return text if redact(text) == text else digest(text)


def option_value(name: str, value: str) -> str:
    """Return the value of an option, or its digest where its name or its text is a secret's."""
    if names_secret(name) or redact(f"{name}={value}") != f"{name}={value}":
        return digest(value)
    return bounded(without_secrets(value))
