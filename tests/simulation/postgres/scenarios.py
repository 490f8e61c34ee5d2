"""Small worlds with two or three actors, each made for one way in which they could collide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.simulation.postgres.world import World


@dataclass(frozen=True)
class Part:
    """What one actor does, under one generation of the lease."""

    name: str
    generation: int
    """The newest that it acts under."""
    work: Callable[[World], None]


@dataclass(frozen=True)
class Scenario:
    """One world before anything happens, and who acts in it."""

    name: str
    parts: tuple[Part, ...]
    last: int
    """The newest batch that the source has."""
    mode: str = "append"
    batch_column: str | None = "batch"
    there: int = 1
    """How many batches the table has; with none there is no table either."""
    kept_batches: int | None = None
    replans: bool = True
    new_query: bool = False
    gap: int | None = None
    """A batch that was removed from table and ledger behind the sink's back."""
    stuck: frozenset[str] = frozenset()
    """How a job may end for good, because people have to decide; then no clean start follows."""

    @property
    def final_generation(self) -> int:
        """Return the generation of the clean start after everything."""
        return max(part.generation for part in self.parts) + 1

    @property
    def takes_back(self) -> bool:
        """Tell whether an actor takes batches back."""
        return any(not part.name.startswith("driver") for part in self.parts)

    @property
    def clears(self) -> bool:
        """Tell whether an actor clears the table."""
        return any(part.name.startswith("clear") for part in self.parts)


def driver(generation: int, last: int, name: str | None = None) -> Part:
    """Return a driver that delivers batches up to the last."""
    return Part(
        name or f"driver{generation}", generation, lambda world: world.drive(generation, last)
    )


def replanning(generation: int, last: int) -> Part:
    """Return a driver before which somebody let Spark plan the next batch id again."""

    def work(world: World) -> None:
        world.versions = {last: "z"}
        world.drive(generation, last)

    return Part(f"driver{generation}", generation, work)


def taking_back(generation: int, newest_kept: int, last: int) -> Part:
    """Return a person who takes batches back and starts the job again."""

    def work(world: World) -> None:
        world.take_back(generation, newest_kept)
        world.drive(generation + 1, last)

    name = "clear" if newest_kept < 0 else "rewind"
    return Part(f"{name}{generation}", generation + 1, work)


SCENARIOS: dict[str, Scenario] = {
    one.name: one
    for one in (
        Scenario("append", (driver(1, 1), driver(2, 1)), last=1),
        Scenario("append-two", (driver(1, 2), driver(2, 2)), last=2),
        Scenario("append-first", (driver(1, 0), driver(2, 0)), last=0, there=0),
        Scenario("upsert", (driver(1, 1), driver(2, 2)), last=2, mode="upsert",
                 batch_column=None),
        Scenario("complete", (driver(1, 1), driver(2, 2)), last=2, mode="complete",
                 batch_column=None),
        Scenario("rewind", (driver(1, 2), taking_back(3, 0, 2)), last=2, there=2),
        Scenario("rewind-same", (driver(1, 2), taking_back(3, 0, 2)), last=2, there=2,
                 replans=False),
        Scenario("rewind-late", (taking_back(3, 0, 2), driver(6, 2)), last=2, there=2),
        Scenario("clear", (driver(1, 1), taking_back(3, -1, 1)), last=1),
        Scenario("clear-late", (taking_back(3, -1, 1), driver(6, 1)), last=1),
        Scenario("clear-first", (driver(1, 0), taking_back(3, -1, 0)), last=0, there=0),
        Scenario("clear-same", (driver(1, 2), taking_back(3, -1, 2)), last=2, there=2,
                 replans=False),
        Scenario("clear-new-query", (driver(1, 1), taking_back(3, -1, 1)), last=1,
                 new_query=True),
        Scenario("clear-complete", (driver(1, 1), taking_back(3, -1, 1)), last=1,
                 mode="complete", batch_column=None),
        Scenario("prune", (driver(1, 4), driver(2, 6)), last=6, there=4, kept_batches=2),
        Scenario("prune-upsert", (driver(1, 4), driver(2, 6)), last=6, there=4, kept_batches=2,
                 mode="upsert", batch_column=None),
        Scenario("prune-clear", (driver(1, 4), taking_back(3, -1, 2)), last=4, there=4,
                 kept_batches=2),
        Scenario("prune-rewind", (driver(1, 4), taking_back(3, 3, 4)), last=4, there=4,
                 kept_batches=2),
        Scenario("gap", (driver(1, 2), driver(2, 2)), last=2, there=3, gap=1,
                 stuck=frozenset(("HF5046",))),
        Scenario("replanned", (driver(1, 1), replanning(2, 1)), last=1,
                 stuck=frozenset(("HF5003",))),
        Scenario("three", (driver(1, 2), driver(2, 2), taking_back(3, 0, 2)), last=2, there=1),
        Scenario("three-upsert", (driver(1, 2), driver(2, 3), driver(3, 3)), last=3, there=1,
                 mode="upsert", batch_column=None),
        Scenario("three-clear", (driver(1, 2), driver(2, 2), taking_back(3, -1, 2)), last=2,
                 there=1),
    )
}  # fmt: skip
