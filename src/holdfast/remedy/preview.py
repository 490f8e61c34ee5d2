"""Shows a checkpoint as it would be after changes, without making them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from holdfast.checkpoint.layout import checksum_name
from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.location import place_within, shown_path
from holdfast.storage.reading import FileKind, Listed, Listing, Reader, order_of


@dataclass(frozen=True)
class Preview:
    """Reads another place as if files had been written and removed there."""

    under: Reader
    writes: Mapping[str, bytes] = field(default_factory=dict)
    removes: frozenset[str] = frozenset()

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self.under.location

    def with_changes(self, writes: Mapping[str, bytes], removes: Iterable[str] = ()) -> Preview:
        """Return the place after further changes; a written file loses its old checksums."""
        gone = {*removes, *(side for path in writes for side in sides_of(path))} - writes.keys()
        kept = {path: content for path, content in self.writes.items() if path not in gone}
        left = (self.removes | gone) - writes.keys()
        return replace(self, writes={**kept, **writes}, removes=frozenset(left))

    def list(self) -> Listing:
        """List everything once, in the order of names."""
        listing = self.under.list()
        changed = self.removes | self.writes.keys()
        items = [item for item in listing.items if item.path not in changed]
        items += [
            Listed(path, FileKind.FILE, len(content)) for path, content in self.writes.items()
        ]
        return replace(listing, items=tuple(sorted(items, key=order_of)))

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder; empty when the folder is not there."""
        prefix = f"{folder}/" if folder else ""
        start = len(prefix)
        gone = {path[start:] for path in self.removes if path.startswith(prefix)}
        new = {path[start:].partition("/")[0] for path in self.writes if path.startswith(prefix)}
        return (self.under.names(folder) - gone) | new

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or `length` bytes of it from `start`."""
        if path in self.writes:
            content = self.writes[path]
            return content[start:] if length is None else content[start : start + length]
        if path in self.removes:
            at = place_within(self.location, path)
            raise NotFoundError("HF7001", f"there is no file {shown_path(path)}", at=at)
        return self.under.read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; a failure stands in place of the bytes."""
        wanted = list(paths)
        own = [path for path in wanted if path in self.writes or path in self.removes]
        read = dict(self.under.read_many([path for path in wanted if path not in own]))
        for path in own:
            try:
                read[path] = self.read(path)
            except StorageError as error:
                read[path] = error
        return {path: read[path] for path in wanted}


def sides_of(path: str) -> tuple[str, str, str]:
    """Name the checksums that Hadoop and Spark may keep beside a file, and that of Spark's."""
    return checksum_name(path), f"{path}.crc", checksum_name(f"{path}.crc")
