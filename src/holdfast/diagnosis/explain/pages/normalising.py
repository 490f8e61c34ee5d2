"""Takes out of a pasted error what differs from one machine to the next."""

from __future__ import annotations

import re

_TYPOGRAPHY = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\xa0": " "}
)
_KEPT = r"offsets|commits|sources|state|metadata|_spark_metadata|_delta_log"
_IDENTIFIER = re.compile(
    r"(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE
)
_LOCATION = re.compile(r"(?:\b[a-zA-Z][a-zA-Z0-9+.-]*:/{1,3}|(?<![\w<])/)[^\s,;()\[\]\"'<>]+")
_TAIL = re.compile(rf"/(?P<tail>(?:{_KEPT})(?:/[^/\s]+)*/?)$")
_STORE_FOLDER = re.compile(r"^(state/\d+/\d+)/(?!_)[^/]+/([^/]+)$")
_WITHOUT_STORE = r"\1/\2"
_FRAME_FILE = re.compile(r"\([\w$]+\.(?:scala|java|py):\d+\)")
_NUMBER = re.compile(r"\d+")
# A log in JSON holds its line ends as two characters.
_WHITE = re.compile(r"(?:\s|\\[nrt])+")


def normalise(text: str, *, keep_numbers: bool = False) -> str:
    """Give the text on one line, with paths, ids and numbers replaced.

    Of a path inside a checkpoint the part from the log's name on is kept: which log it is matters,
    where it lies does not.
    """
    text = _WHITE.sub(" ", text.translate(_TYPOGRAPHY))
    text = _FRAME_FILE.sub("", text)
    text = _IDENTIFIER.sub("<id>", text)
    text = _LOCATION.sub(_reduced, text)
    return text if keep_numbers else _NUMBER.sub("#", text)


def _reduced(found: re.Match[str]) -> str:
    place = found.group().rstrip(".:!")
    rest = found.group()[len(place) :]
    inside = _TAIL.search(place)
    if inside is None:
        return f"<path>{rest}"
    # A join keeps four stores per partition, each in a folder of its own.
    return f"<path>/{_STORE_FOLDER.sub(_WITHOUT_STORE, inside['tail'])}{rest}"
