"""When the versions of a table were committed, as Delta itself counts it: without a JVM.

A table with in-commit timestamps says it in the `commitInfo` of each version. For any other it is
when the file of the version was written, moved behind the version before it where clocks disagree.
Either way a later version has a later time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property

from holdfast.errors import DecodeError
from holdfast.ledgers.delta.log import Commit, DeltaLogFiles
from holdfast.storage.reading import Reader

_IN_COMMIT = "inCommitTimestamp"


class CommitTimes:
    """The times of the versions whose own files are there.

    Questions raise StorageError where a file cannot be read, and DecodeError where one is damaged
    or has no time.
    """

    def __init__(self, log: DeltaLogFiles, reader: Reader) -> None:
        self._log, self._reader = log, reader
        self._read: dict[int, int | None] = {}
        self.versions = sorted(log.versions)
        """From the oldest to the newest."""

    def of(self, version: int) -> int:
        """Return when a version was committed, in milliseconds since 1970."""
        if self._writes_times:
            written = self._in_commit(version)
            # Versions from before the table got this property have none.
            if written is not None:
                return written
        found = self._written_ms.get(version)
        if found is None:
            raise DecodeError("HF2416", f"when version {version} was written is unknown")
        return found

    def between(self, start_ms: int, end_ms: int) -> range:
        """Return the versions that were committed from one moment to another, both included."""
        first = bisect_left(self.versions, start_ms, key=self.of)
        after = bisect_right(self.versions, end_ms, key=self.of)
        if first >= after:
            return range(0)
        return range(self.versions[first], self.versions[after - 1] + 1)

    @cached_property
    def _writes_times(self) -> bool:
        return self._in_commit(self.versions[-1]) is not None

    @cached_property
    def _written_ms(self) -> Mapping[int, int]:
        times: dict[int, int] = {}
        before: int | None = None
        for version in self.versions:
            written = self._log.modified_ms.get(version)
            if written is None:
                return {}
            before = written if before is None else max(written, before + 1)
            times[version] = before
        return times

    def _in_commit(self, version: int) -> int | None:
        if version not in self._read:
            information = Commit(self._reader.read(self._log.versions[version])).information
            written = information.get(_IN_COMMIT)
            self._read[version] = written if type(written) is int else None
        return self._read[version]
