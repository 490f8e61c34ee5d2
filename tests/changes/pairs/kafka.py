"""Changes of what is read from Kafka, on a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.changes.inputs import (
    ORDERS_FIRST,
    ORDERS_SECOND,
    OTHERS_FIRST,
    OTHERS_SECOND,
    Inputs,
    broker_of,
    topic_of,
)
from tests.changes.pair import AS_BEFORE, LATER, Pair, Query, grouped, updating

FIRST: Inputs = {"topic:orders": ORDERS_FIRST}
SECOND: Inputs = {"topic:orders": ORDERS_SECOND}
BOTH_FIRST: Inputs = {**FIRST, "topic:others": OTHERS_FIRST}
BOTH_SECOND: Inputs = {**SECOND, "topic:others": OTHERS_SECOND}
KEPT: dict[str, Any] = {"failOnDataLoss": "false"}


def rows(*topics: str, **options: Any) -> Query:
    """Return a query that gives the messages as they are."""
    return Query(lambda b: b.messages(*topics or ("orders",), **options).select("user", "amount"))


def counts(*topics: str, **options: Any) -> Query:
    """Return a query that counts the messages of each user."""
    return updating(lambda b: b.messages(*topics or ("orders",), **options).groupBy("user").count())


def swapped(*topics: str) -> Query:
    """Return a union of readers, each of one topic."""

    def build(bench: Any) -> Any:
        first, second = (bench.messages(one).select("user", "amount") for one in topics)
        return first.union(second)

    return Query(build)


def create_again(folder: Path) -> None:
    """Delete the topic, and create it again with fewer messages than were read."""
    from tests.parts.kafka import create_topic, delete_topic

    address = broker_of(folder)
    topic = topic_of(folder, "orders")
    if address is not None and (folder / "checkpoint").exists():
        delete_topic(address, topic)
        create_topic(address, topic)


READ: dict[str, Any] = {"first": FIRST, "second": SECOND, "right": LATER}
COUNTED: dict[str, Any] = {"first": FIRST, "second": SECOND}
BOTH: dict[str, Any] = {"first": BOTH_FIRST, "second": BOTH_SECOND}
RENAMED: dict[str, Any] = {"first": FIRST, "second": {"topic:sales": ORDERS_SECOND}}

PAIRS = grouped(
    "kafka",
    (
        Pair("topic-unchanged", "nothing", rows(), rows(), harmless=True, **READ),
        Pair("topic-counted-unchanged", "nothing", counts(), counts(), harmless=True, **COUNTED),
        Pair("topic-renamed", "orders → sales, where the new messages are",
             rows(), rows("sales"), right=LATER, **RENAMED),
        Pair("topic-renamed-without-failing", "orders → sales, failOnDataLoss is false",
             rows(**KEPT), rows("sales", **KEPT), right=LATER, **RENAMED),
        Pair("topic-replaced-by-an-old-one", "orders → others, failOnDataLoss is false",
             rows(**KEPT), rows("others", **KEPT), first=BOTH_FIRST, right=LATER,
             second={"topic:others": OTHERS_SECOND}),
        Pair("topic-renamed-with-messages-left", "orders → sales, while orders has new messages",
             counts(**KEPT), counts("sales", **KEPT), first=FIRST,
             second={**SECOND, "topic:sales": OTHERS_SECOND},
             reference=counts("orders", "sales"),
             whole={"topic:orders": (*ORDERS_FIRST, *ORDERS_SECOND),
                    "topic:sales": OTHERS_SECOND}),
        Pair("topic-added", "orders → orders, sales, which is new",
             rows(), rows("orders", "sales"), first=FIRST, right=LATER,
             second={**SECOND, "topic:sales": OTHERS_SECOND}),
        Pair("topic-added-that-is-old", "orders → orders, others, which has messages from before",
             rows(), rows("orders", "others"), right=LATER, **BOTH),
        Pair("topic-added-to-a-count", "orders → orders, others, which has messages from before",
             counts(), counts("orders", "others"), **BOTH),
        Pair("topic-removed", "orders, others → orders",
             rows("orders", "others"), rows(), first=BOTH_FIRST, second=SECOND, right=LATER),
        Pair("topic-removed-without-failing", "orders, others → orders, failOnDataLoss is false",
             rows("orders", "others", **KEPT), rows(**KEPT), first=BOTH_FIRST, second=SECOND,
             right=LATER),
        Pair("topics-reordered", "orders, others → others, orders",
             counts("orders", "others"), counts("others", "orders"), harmless=True, **BOTH),
        Pair("topics-as-pattern", "subscribe → subscribePattern, which matches the same topic",
             rows(), rows(how="subscribePattern"), harmless=True, **READ),
        Pair("topics-as-wider-pattern", "subscribe orders → subscribePattern orders|others",
             rows(), rows("orders", "others", how="subscribePattern"), right=LATER, **BOTH),
        Pair("pattern-as-topics", "subscribePattern → subscribe of the topic that it matched",
             rows(how="subscribePattern"), rows(), harmless=True, **READ),
        Pair("pattern-as-fewer-topics", "subscribePattern orders|others → subscribe orders",
             rows("orders", "others", how="subscribePattern"), rows(), first=BOTH_FIRST,
             second=SECOND, right=LATER),
        Pair("topics-as-partitions", "subscribe → assign of all partitions",
             counts(), counts(how="assign"), harmless=True, **COUNTED),
        Pair("partitions-as-topics", "assign of all partitions → subscribe",
             rows(how="assign"), rows(), harmless=True, **READ),
        Pair("pattern-to-another-topic", "subscribePattern orders → sales",
             rows(how="subscribePattern"), rows("sales", how="subscribePattern"), right=LATER,
             **RENAMED),
        Pair("readers-swapped", "orders union others → others union orders",
             swapped("orders", "others"), swapped("others", "orders"), right=LATER, **BOTH),
        Pair("starting-offsets", "startingOffsets: earliest → latest",
             rows(), rows(startingOffsets="latest"), right=AS_BEFORE, **COUNTED),
        Pair("starting-timestamp", "startingTimestamp is new, and in the future",
             counts(), counts(startingTimestamp="4102444800000"), right=AS_BEFORE, **COUNTED),
        Pair("offsets-per-trigger", "maxOffsetsPerTrigger is new",
             counts(), counts(maxOffsetsPerTrigger=2), harmless=True, **COUNTED),
        Pair("no-failing-on-data-loss", "failOnDataLoss: true → false",
             rows(), rows(**KEPT), harmless=True, **READ),
        Pair("more-tasks-per-topic", "minPartitions is new",
             rows(), rows(minPartitions=4), harmless=True, **READ),
        Pair("headers-added", "includeHeaders is new",
             counts(), counts(includeHeaders="true"), harmless=True, **COUNTED),
        Pair("committed-messages-alone", "the isolation level is read_committed",
             rows(), rows(kafka__isolation__level="read_committed"), harmless=True, **READ),
        Pair("another-group-id", "groupIdPrefix is new",
             rows(), rows(groupIdPrefix="ours"), harmless=True, **READ),
        Pair("failing-on-data-loss", "failOnDataLoss: false → true, the topic was created again",
             rows(**KEPT), rows(), between=create_again, **READ),
        Pair("topic-created-again", "the topic is deleted and created again between the runs",
             rows(), rows(), between=create_again, **READ),
    ),
)  # fmt: skip
