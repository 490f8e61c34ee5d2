"""The scheduler itself: it repeats what it did, breaks circles of waiters, and loses answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psycopg
import pytest

from tests.simulation.postgres import choices
from tests.simulation.postgres.baton import Actor, Controller
from tests.simulation.postgres.choices import Option, following, parsed, spelled
from tests.simulation.postgres.connections import Pool
from tests.simulation.postgres.server import Server, quick_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start a server with a table of two rows."""
    with quick_server() as one:
        one.ask("create table numbers (id int primary key, value int)")
        yield one


@pytest.fixture
def pool(server: Server) -> Iterator[Pool]:
    """Give the connections of actors."""
    server.ask("delete from numbers; insert into numbers values (1, 0), (2, 0)")
    one = Pool(server.uri)
    with one.instead_of_psycopg():
        yield one
    one.close()


def adding(*ids: int) -> Callable[[], None]:
    """Return an actor's work: add one to each of these rows in one transaction."""

    def work() -> None:
        with psycopg.connect("") as connection, connection.transaction():
            for number in ids:
                connection.execute("update numbers set value = value + 1 where id = %s", (number,))

    return work


def run(server: Server, pool: Pool, works: dict[str, Callable[[], None]], choose: Any) -> Any:
    """Run actors, and give them with their controller."""
    actors = [Actor(name, work) for name, work in works.items()]
    controller = Controller(actors, server, choose, ghosts=pool.ghosts)
    controller.run()
    return actors, controller


def values(server: Server) -> list[int]:
    """Give the values of both rows."""
    return [value for (value,) in server.ask("select value from numbers order by id")]


def after(actor: str, commands: int, then: Option) -> Any:
    """Return a chooser that lets an actor send so many statements, and then does another thing."""
    sent: list[int] = []

    def choose(step: int, options: Sequence[Option]) -> int:
        if len(sent) == commands and then in options:
            sent.append(step)
            return options.index(then)
        if options[0] == Option(actor):
            sent.append(step)
        return 0

    return choose


def test_a_waiting_actor_hands_the_baton_back(server: Server, pool: Pool) -> None:
    """The second waits for the row of the first, and goes on once that is committed."""
    works = {"first": adding(1), "second": adding(1)}
    (first, second), controller = run(server, pool, works, after("first", 2, Option("second")))
    assert (first.error, second.error, values(server)) == (None, None, [2, 0])
    order = [step.option.actor for step in controller.steps]
    assert order == ["first", "first", "second", "second", "first", "second"]


def test_a_circle_of_waiters_is_broken(server: Server, pool: Pool) -> None:
    """PostgreSQL would end one of them; the scheduler does it, with the same error."""
    works = {"first": adding(1, 2), "second": adding(2, 1)}
    (first, second), _ = run(server, pool, works, after("first", 2, Option("second")))
    errors = [type(one.error) for one in (first, second) if one.error is not None]
    assert (errors, values(server)) == ([psycopg.errors.DeadlockDetected], [1, 1])


@pytest.mark.parametrize(
    ("action", "expected"),
    [(choices.CRASH, 0), (choices.BREAK, 0), (choices.LOSE, 1), (choices.LATE, 1)],
)
def test_what_becomes_of_a_commit(server: Server, pool: Pool, action: str, expected: int) -> None:
    """It happened or not; except in a crash the actor hears that the connection is lost."""
    choose = after("only", 2, Option("only", action))
    (only,), _ = run(server, pool, {"only": adding(1)}, choose)
    assert values(server) == [expected, 0]
    assert only.is_crashed == (action == choices.CRASH)
    assert isinstance(only.error, psycopg.OperationalError) == (action != choices.CRASH)


def test_a_wait_that_takes_too_long(server: Server, pool: Pool) -> None:
    """The statement ends as lock_timeout ends it."""

    def choose(step: int, options: Sequence[Option]) -> int:
        for wanted in (Option("second", choices.TIMEOUT), Option("second")):
            if step >= 2 and wanted in options:
                return options.index(wanted)
        return 0

    works = {"first": adding(1), "second": adding(1)}
    (first, second), _ = run(server, pool, works, choose)
    assert isinstance(second.error, psycopg.errors.LockNotAvailable)
    assert (first.error, values(server)) == (None, [1, 0])


def test_the_same_decisions_give_the_same_course(server: Server, pool: Pool) -> None:
    """Also where actors wait for each other."""
    works = {"first": adding(1, 2), "second": adding(2, 1)}
    _, once = run(server, pool, works, after("first", 2, Option("second")))
    _, again = run(server, pool, works, following(once.schedule))
    assert (again.steps, again.schedule) == (once.steps, once.schedule)


def test_a_schedule_is_typed_as_it_is_printed() -> None:
    """Steps and numbers survive."""
    schedule = ((3, 1), (17, 4))
    assert (spelled(schedule), parsed("3:1,17:4"), parsed("")) == ("3:1,17:4", schedule, ())
