"""Does the same work for many items at once, in threads that never keep the program alive."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Mapping[Item, Result]:
    """Return each item's result in the order of the items; the first exception stops the rest."""
    ordered = list(dict.fromkeys(items))
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in ordered:
        waiting.put(item)
    results: dict[Item, Result] = {}
    raised: list[BaseException] = []

    def serve() -> None:
        while not raised:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results[item] = work(item)
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                raised.append(error)

    _run_in_threads(serve, min(workers, len(ordered)))
    if raised:
        raise raised[0]
    return {item: results[item] for item in ordered}


def one_ahead(
    items: Iterable[Item], work: Callable[[Item], Result]
) -> Iterator[tuple[Item, Result]]:
    """Give each item with its result, while a thread works on the next item already."""
    ordered = iter(items)
    coming = _begun(ordered, work)
    while coming is not None:
        item, thread, results = coming
        thread.join()
        if isinstance(results[0], BaseException):
            raise results[0]
        coming = _begun(ordered, work)
        yield item, results[0]


def _begun(
    items: Iterator[Item], work: Callable[[Item], Result]
) -> tuple[Item, threading.Thread, list[Result | BaseException]] | None:
    for item in items:
        results: list[Result | BaseException] = []

        def serve(item: Item = item, results: list[Result | BaseException] = results) -> None:
            try:
                results.append(work(item))
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                results.append(error)

        thread = threading.Thread(target=serve, name="holdfast-read", daemon=True)
        thread.start()
        return item, thread, results
    return None


def _run_in_threads(serve: Callable[[], None], count: int) -> None:
    # Daemon threads: a storage that never answers must not keep a program from ending.
    threads = [
        threading.Thread(target=serve, name="holdfast-read", daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
