"""Python data sources: an offset is whatever JSON the user's reader returned."""

from __future__ import annotations

from holdfast.format.sources.offset import NOT_MINE, POSSIBLE, Recognition, SourceEvidence
from holdfast.format.sources.unknown import UnknownOffsetReader, show_value


class PythonOffsetReader(UnknownOffsetReader):
    """Reads any JSON; only a name that somebody told, never the shape, speaks for this source."""

    kind = "python"
    formats = frozenset(("python", "pythondatasourcev2"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Take it for possible when a provider or a format was told at all."""
        return POSSIBLE if evidence.provider or evidence.declared_format else NOT_MINE

    def summary(self, decoded: object) -> str:
        """Show the fields."""
        return show_value(decoded)
