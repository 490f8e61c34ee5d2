"""What a storage promises: which acts are single, and what may go wrong in between."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Semantics:
    """The promises of one kind of storage."""

    name: str
    scheme: str
    """The scheme of its locations: the code under test asks for it."""
    root: str
    """Where everything lies."""
    has_folders: bool
    renames: bool
    """A file gets another name in one act; else it is copied, then removed."""
    create_is_atomic: bool
    """A killed create leaves nothing; else it may leave a file without its content."""
    replace_is_atomic: bool
    """A reader sees the old bytes or the new ones; else it may find nothing in between."""
    answers_get_lost: bool
    """A call may take effect although its caller gets an error."""
    power_cuts: bool
    """What was not flushed is lost, or torn, when the machine loses its power."""


LOCAL = Semantics("local", "file", "/simulated", True, True, True, True, False, True)
OBJECT = Semantics("object", "s3", "s3://simulated", False, False, True, True, True, False)
HDFS = Semantics("hdfs", "hdfs", "hdfs://simulated", True, True, True, False, True, False)
NAIVE = Semantics("naive", "hdfs", "hdfs://simulated", True, True, False, False, True, False)
"""Create a file under its own name and then fill it: what a writer must never do."""

SEMANTICS: dict[str, Semantics] = {one.name: one for one in (LOCAL, OBJECT, HDFS, NAIVE)}
