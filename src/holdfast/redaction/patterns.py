"""Finds secrets that nobody named to us: by the name before them, or by their shape."""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.redaction.known import HINTS, REDACTED, SECRET_WORD, expression, is_about

_REST_OF_NAME = expression(r"[\w.\-]*")
# \ue020 stands for a blank that was percent-encoded (see encodings.py): part of a value, but also
# allowed where a separator has blanks.
_SEPARATOR = expression(
    r"\\*[\"'`][\s\ue020]{0,40}(?:=>|->|:=|={1,2}|:)[\s\ue020]{0,40}"
    r"|[ \t\ue020]{0,8}(?:=>|->|:=|={1,2}|:(?!:|//))[ \t\ue020]{0,8}"
    r"|\\*[\"'][\s\ue020]{0,8},[\s\ue020]{0,8}\\*[\"']value\\*[\"'][\s\ue020]{0,8}:[\s\ue020]{0,40}"
    r"|</name>\s{0,40}<value>|>"
)
_OPTION = expression(r"[ \t\ue020]{1,8}")
# spark-defaults.conf: a dotted setting, blanks, and one word that ends the line.
_PROPERTY = expression(r"[ \t\ue020]{1,80}(?=\S+[ \t]*$)", re.MULTILINE)
_COMMA = expression(",")
_QUOTE = expression(r"(\\*)([\"'`])")
_UNQUOTED = expression(
    r"(?:\[redacted\]|\$\{[^}\s]*\}|[^\s\"'<>,;&)\]}\\]|\\(?![\"'nrt])"
    r"|[,;&)\]}](?![\s\"'()\[\]{},;&]|$|\\|[\w.\-]{1,64}(?:[=:]|->| ->)))+"
)
_WITH_SCHEME = expression(
    r"(?:apikey|aws|aws4-hmac-sha256|basic|bearer|digest|negotiate|ntlm|oauth|sharedkey(?:lite)?"
    r"|token)[ \t\ue020]{1,4}",
    re.IGNORECASE,
)
_JAAS = expression(r"[^\n;\"]*(?:\"[^\"\n]*\"[^\n;\"]*)*(?:;|$)", re.MULTILINE)
_LINE = expression(r"[^\n]*")
_ELEMENT = expression(r"[^<]*(?=</)")
_NOTHING = expression(
    r"(?:null|none|nil|undefined|true|false|\$\{[^}]*\}"
    r"|(?:string|int|integer|bigint|long|smallint|short|tinyint|byte|double|float|boolean|binary"
    r"|date|timestamp(?:_ntz)?|decimal|void|variant|array|map|struct)(?:[(<].*)?)$",
    re.IGNORECASE | re.DOTALL,
)
_PARTITION_OFFSETS = expression(r"\{(?:\s*\\*\"\d+\\*\"\s*:\s*-?\d+\s*,?)*\s*\}$")
_BRACKET = expression(r"[{}\[\]]|(\\*)\"")
_LONGEST_NESTED = 16_384
_PORT_OR_VERSION = expression(r"\d{2,5}(?![\w.])|\d+(?:\.\d+)+")
_IN_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-"


def redact_assignments(text: str) -> str:
    """Replace every value that stands under a name which announces a secret."""
    lowered = text.lower()
    if not any(hint in lowered for hint in HINTS):
        return text
    pieces: list[str] = []
    kept = position = 0
    while found := SECRET_WORD().search(text, position):
        position = _end_of_name(text, found.end())
        start, end = _value_of(text, found.start(), position)
        if start < end:
            pieces += (text[kept:start], REDACTED)
            kept = position = end
    return "".join((*pieces, text[kept:]))


def _end_of_name(text: str, position: int) -> int:
    rest = _REST_OF_NAME().match(text, position)
    return rest.end() if rest else position


def _value_of(text: str, word: int, name_end: int) -> tuple[int, int]:
    """Return where the name's value starts and ends; an empty span if there is nothing to hide."""
    name_start = max(0, word - 200) + len(text[max(0, word - 200) : word].rstrip(_IN_NAME))
    name, before = text[name_start:name_end], text[max(0, name_start - 12) : name_start]
    separator = _separator_after(text, name, before, name_end)
    if separator is None or is_about(name):
        return name_end, name_end
    start, end = _span(text, separator.end(), name, separator[0])
    value = text[start:end]
    if value == REDACTED or _NOTHING().match(value) or _PARTITION_OFFSETS().match(value):
        return end, end
    if before.endswith(("//", "@", ":")) and _PORT_OR_VERSION().match(value):
        return end, end
    if name.lower().endswith("pwd") and value[:1] in "/~":
        return end, end
    return start, end


def _separator_after(text: str, name: str, before: str, name_end: int) -> re.Match[str] | None:
    if before.endswith("(") and "." in name and text.startswith(",", name_end):
        return _COMMA().match(text, name_end)
    if name.startswith("-") and _OPTION().match(text, name_end):
        return _OPTION().match(text, name_end)
    if name.count(".") > 1 and before[-1:] in ("", "\n", "\r"):
        return _SEPARATOR().match(text, name_end) or _PROPERTY().match(text, name_end)
    if before.lower().endswith(("unexpected ", "recognized ")):
        return None
    separator = _SEPARATOR().match(text, name_end)
    if separator and separator[0] == ">" and not before.endswith("<"):
        return None
    return separator


def _span(text: str, start: int, name: str, separator: str) -> tuple[int, int]:
    if text.startswith(REDACTED, start):
        return start, start + len(REDACTED)
    quote = _QUOTE().match(text, start)
    if quote:
        return quote.end(), _end_of_quoted(text, quote)
    if separator.endswith(">") and separator not in ("->", "=>"):
        return _matched(_ELEMENT, text, start)
    if text[start : start + 1] in ("{", "["):
        return start, _end_of_nested(text, start)
    if name.lower().endswith("jaas.config"):
        whole = _matched(_JAAS, text, start)
        return whole if whole[0] < whole[1] else _matched(_LINE, text, start)
    scheme = _WITH_SCHEME().match(text, start)
    if scheme:
        return start, max(scheme.end(), _matched(_UNQUOTED, text, scheme.end())[1])
    return _matched(_UNQUOTED, text, start)


def _matched(pattern: Callable[[], re.Pattern[str]], text: str, start: int) -> tuple[int, int]:
    match = pattern().match(text, start)
    return (start, match.end()) if match else (start, start)


def _end_of_quoted(text: str, quote: re.Match[str]) -> int:
    """Return where the quoted text ends; inside a JSON string its quotes wear backslashes."""
    depth, mark = len(quote[1]), quote[2]
    position = quote.end()
    while (found := text.find(mark, position)) >= 0:
        backslashes = 0
        while found - backslashes > quote.end() and text[found - backslashes - 1] == "\\":
            backslashes += 1
        if backslashes <= depth or (depth == 0 and backslashes % 2 == 0):
            return found - min(backslashes, depth)
        position = found + 1
    return _matched(_LINE, text, quote.end())[1]


def _end_of_nested(text: str, start: int) -> int:
    """Return where the object or list ends; a torn one counts up to a bound, to be safe."""
    depth, quoted, level = 0, False, None
    longest = min(len(text), start + _LONGEST_NESTED)
    for mark in _BRACKET().finditer(text, start, longest):
        if mark[0].endswith('"'):
            level = len(mark[1]) if level is None else level
            quoted ^= len(mark[1]) == level
        elif not quoted:
            depth += (mark[0] in "{[") - (mark[0] in "}]")
        if depth == 0:
            return mark.end()
    return longest


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
