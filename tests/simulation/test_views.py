"""The simulated storages keep the promises of readers and writers, and lose what they may lose."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from holdfast.errors import NotFoundError, StorageError
from tests.simulation.patches import enter
from tests.simulation.schedule import Schedule, parse
from tests.simulation.semantics import HDFS, LOCAL, OBJECT, Semantics
from tests.simulation.simulating import Fixed
from tests.simulation.tree import Tree
from tests.simulation.views import SimulatedReader, SimulatedWriter
from tests.simulation.world import World

pytestmark = pytest.mark.usefixtures("simulated_world")
Work = Callable[[SimulatedWriter, SimulatedReader], object]
STORAGES = pytest.mark.parametrize("semantics", [LOCAL, OBJECT, HDFS], ids=lambda one: one.name)


def at_work(semantics: Semantics, work: Work, schedule: Schedule = ()) -> World:
    """Let one actor work on an empty storage; what it raises is raised."""
    world = World(Tree(semantics), Fixed(schedule))
    enter(world)
    place = f"{semantics.root}/place"
    world.add(
        "worker",
        lambda *_: work(SimulatedWriter(world, place), SimulatedReader(world, place)),
        "machine",
    )
    world.run()
    error = world.actors[0].error
    world.close()
    if error is not None:
        raise error
    return world


@STORAGES
def test_a_file_is_created_once_and_replaced(semantics: Semantics) -> None:
    def work(writer: SimulatedWriter, reader: SimulatedReader) -> None:
        assert writer.create("a/b", [b"one", b" two"])
        assert not writer.create("a/b", [b"another"])
        assert reader.read("a/b") == b"one two"
        assert reader.read("a/b", 1, 2) == b"ne"
        writer.replace("a/b", [b"new"])
        assert reader.read("a/b") == b"new"
        assert reader.names("a") == {"b"}

    at_work(semantics, work)


@STORAGES
def test_what_fails_midway_leaves_nothing(semantics: Semantics) -> None:
    def torn() -> Iterator[bytes]:
        yield b"begin"
        raise StorageError("HF7006", "the source failed")

    def work(writer: SimulatedWriter, reader: SimulatedReader) -> None:
        writer.create("kept", [b"kept"])
        for act in (writer.create, writer.replace):
            with pytest.raises(StorageError):
                act("a", torn())
        assert [item.path for item in reader.list().items] == ["kept"]

    at_work(semantics, work)


@STORAGES
def test_a_file_is_moved_and_removed(semantics: Semantics) -> None:
    def work(writer: SimulatedWriter, reader: SimulatedReader) -> None:
        writer.create("from/one", [b"x"])
        writer.create("to/one", [b"old"])
        writer.move("from/one", "to/one")
        assert reader.read("to/one") == b"x"
        with pytest.raises(NotFoundError):
            writer.move("from/one", "to/one")
        writer.remove("to/one")
        writer.remove("to/one")
        with pytest.raises(NotFoundError):
            reader.read("to/one")

    at_work(semantics, work)


@STORAGES
def test_a_listing_is_in_the_order_of_names(semantics: Semantics) -> None:
    def work(writer: SimulatedWriter, reader: SimulatedReader) -> None:
        with pytest.raises(NotFoundError):
            reader.list()
        for path in ("b", "a/y", "a/x", "c/d/e"):
            writer.create(path, [b"x"])
        paths = [item.path for item in reader.list().items]
        assert paths == ["a", "a/x", "a/y", "b", "c", "c/d", "c/d/e"]

    at_work(semantics, work)


def test_folders_are_renamed_where_there_are_any() -> None:
    def work(writer: SimulatedWriter, reader: SimulatedReader) -> None:
        writer.create("old/x", [b"x"])
        writer.create("taken/y", [b"y"])
        with pytest.raises(StorageError):
            writer.move_folder("old", "taken")
        writer.move_folder("old", "new")
        assert reader.names("new") == {"x"}
        with pytest.raises(NotFoundError):
            writer.move_folder("old", "newer")

    at_work(LOCAL, work)

    def refused(writer: SimulatedWriter, _: SimulatedReader) -> None:
        with pytest.raises(StorageError):
            writer.move_folder("old", "new")

    at_work(OBJECT, refused)


def test_a_lost_answer_is_an_error_of_a_call_that_took_effect() -> None:
    def work(writer: SimulatedWriter, _: SimulatedReader) -> None:
        with pytest.raises(StorageError):
            writer.create("a", [b"x"])

    world = at_work(OBJECT, work, parse("A1:lost"))
    assert list(world.tree.files) == [f"{OBJECT.root}/place/a"]
    assert not at_work(OBJECT, work, parse("A1:fail")).tree.files


def test_a_power_cut_loses_what_was_not_settled() -> None:
    def work(writer: SimulatedWriter, _: SimulatedReader) -> None:
        writer.create("settled", [b"x"])
        writer.settle()
        writer.create("unsettled", [b"x"])
        writer.remove("settled")

    # Three requests and one to settle, then four more: the last one meets the power cut.
    world = at_work(LOCAL, work, parse("A8:power"))
    assert list(world.tree.files) == [f"{LOCAL.root}/place/settled"]


def test_a_killed_actor_changes_nothing_any_more() -> None:
    def work(writer: SimulatedWriter, _: SimulatedReader) -> None:
        try:
            writer.create("a", [b"x"])
            writer.create("b", [b"x"])
        finally:
            writer.create("c", [b"x"])

    world = at_work(OBJECT, work, parse("A2:crash"))
    assert list(world.tree.files) == [f"{OBJECT.root}/place/a"]
