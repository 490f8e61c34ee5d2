"""Says what a damage is: a name, a sentence, the bases that it fits, and a pure function."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.restarts.bases import Base
from tests.restarts.edits import Edit

Fits = Callable[[Base], bool]

GARBAGE = bytes(range(128, 256)) + b"\x00\xff{]\n" * 4


@dataclass(frozen=True)
class Damage:
    """One way in which a checkpoint is hurt between two starts."""

    name: str
    how: str
    applies: Fits
    function: Edit


def every(_base: Base) -> bool:
    """Fits every base."""
    return True


def stateful(base: Base) -> bool:
    """Fits the bases that keep state."""
    return base.state != "none"


def hdfs_state(base: Base) -> bool:
    """Fits the bases whose state is in delta files."""
    return base.state == "hdfs"


def rocksdb_state(base: Base) -> bool:
    """Fits the bases whose state is in RocksDB."""
    return base.state == "rocksdb"


def pending(base: Base) -> bool:
    """Fits the bases whose newest batch is not committed."""
    return base.pending


def named(*names: str) -> Fits:
    """Fits the bases of these names."""
    return lambda base: base.name in names


def either(*choices: Fits) -> Fits:
    """Fits the bases that one of the choices fits."""
    return lambda base: any(fits(base) for fits in choices)
