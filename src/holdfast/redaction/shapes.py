"""Finds secrets by their shape: user info of URLs, signed queries, well-known keys and tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.redaction.expression import expression
from holdfast.redaction.marker import REDACTED

_PRIVATE_KEY = expression(
    r"-----BEGIN[ \ue020][A-Z0-9 \ue020]{0,40}PRIVATE[ \ue020]KEY[A-Z \ue020]{0,8}-----"
    r".*?(?:-----END[ \ue020][A-Z0-9 \ue020]{0,40}PRIVATE[ \ue020]KEY[A-Z \ue020]{0,8}-----|\Z)",
    re.DOTALL,
)
_AUTHORITY = expression(r"//([^\s/?#\"<>\\;]*)@")
# An unescaped slash in a password, as in Hadoop's old s3n://KEY:SEC/RET@bucket; a port is none.
_SLASHED = expression(
    r"://([^\s:/@\"'<>\\]{1,256}:(?!//|\d{1,5}(?:[/?#,;\s]|$))[^\s@\"'<>\\]{1,256})@"
)
_SCHEME = expression(r"[a-z][a-z0-9+.\-]{0,30}:$", re.IGNORECASE)
# Here the part before @ is a container, an endpoint or nobody's secret.
_PLAIN_USER = frozenset({"abfs:", "abfss:", "wasb:", "wasbs:", "spark:", "spark-rpc:", "ssh:"})
_ORACLE = expression(r"(jdbc:oracle:\w{1,16}:)[^\s/@\"']{1,128}/[^\s@\"']{1,128}@", re.IGNORECASE)

_QUERY = expression(
    r"(?:(?<=[?&])(?:assertion|auth|code|googleaccessid|jwt|key|se|session|sid|sig|sv)"
    r"|(?<=[?&,;\s\ue020])(?:x-(?:amz|goog)-)?signature)=(?!\[redacted\])([^&\s\"'<>#,;)\]}\\]+)",
    re.IGNORECASE,
)
_BEARER = expression(r"(\bbearer[ \t\ue020]{1,4})([\w.~+/=\-]{8,})", re.IGNORECASE)
_ACCESS_KEY = expression(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"(?:([^A-Za-z0-9/+]{1,8}(?:\w{1,30}[^A-Za-z0-9/+]{1,8})?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?"
)
_KNOWN_FORM = expression(
    r"\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*"  # JSON web token
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w\-]{20,}"
    r"|\bxox[abeprs]-[\w\-]{10,}|\bdapi[0-9a-f]{32}\b|\bAIza[\w\-]{35}|\bya29\.[\w\-]{20,}"
    r"|\bsk_live_\w{16,}"
)


def redact_shapes(text: str) -> str:
    """Replace whatever is a secret by its shape alone."""
    for hints, replace in _STEPS:
        if any(hint in text for hint in hints):
            text = replace(text)
    return text


def _redact_private_keys(text: str) -> str:
    return _PRIVATE_KEY().sub(REDACTED, text)


def _redact_user_info(text: str) -> str:
    text = _AUTHORITY().sub(_without_user_info, text)
    text = _SLASHED().sub(f"://{REDACTED}@", text)
    return _ORACLE().sub(rf"\1{REDACTED}@", text)


def _without_user_info(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 32) : match.start()]
    scheme = _SCHEME().search(before)
    user_only = ":" not in match[1]
    if not match[1] or (user_only and (not scheme or scheme[0].lower() in _PLAIN_USER)):
        return match[0]
    return f"//{REDACTED}@"


def _redact_queries(text: str) -> str:
    return _QUERY().sub(lambda match: match[0][: -len(match[1])] + REDACTED, text)


def _redact_bearers(text: str) -> str:
    return _BEARER().sub(rf"\1{REDACTED}", text)


def _redact_access_keys(text: str) -> str:
    return _ACCESS_KEY().sub(
        lambda match: REDACTED if match[1] is None else f"{REDACTED}{match[1]}{REDACTED}", text
    )


def _redact_known_forms(text: str) -> str:
    return _KNOWN_FORM().sub(REDACTED, text)


# Each step with texts of which one must occur before its expression is worth a try.
_STEPS: tuple[tuple[tuple[str, ...], Callable[[str], str]], ...] = (
    (("PRIVATE",), _redact_private_keys),
    (("@",), _redact_user_info),
    (("=",), _redact_queries),
    (("earer", "EARER"), _redact_bearers),
    (("AKIA", "ASIA"), _redact_access_keys),
    (
        ("eyJ", "gh", "glpat-", "xox", "dapi", "AIza", "ya29.", "sk_live_"),
        _redact_known_forms,
    ),
)
