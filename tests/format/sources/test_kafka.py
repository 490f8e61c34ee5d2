"""Kafka offsets.

The JSON is that of KafkaSourceOffset and its JsonUtils in apache/spark (connector/kafka-0-10-sql);
that new partitions start at their earliest record and that gone ones are only reported was read in
KafkaOffsetReaderAdmin there. That Event Hubs writes the same, NUL and all, was read in
EventHubsSource of Azure/azure-event-hubs-spark.
"""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back

INITIAL = b'\0v1\n{"orders":{"0":10,"1":0}}'
ORDERS = '{"orders":{"10":7,"1":45,"0":123}}'


def test_the_shape_alone_is_likely_and_names_its_lookalike() -> None:
    explained = explain(SourceEvidence(ORDERS))

    assert (explained.kind, explained.basis) == ("kafka", "shape")
    assert explained.candidates == ("kafka", "eventhubs")
    assert explained.note is not None
    assert "eventhubs" in explained.note


def test_an_initial_offset_with_a_nul_is_proof() -> None:
    explained = explain(SourceEvidence(ORDERS, initial=INITIAL))

    assert (explained.kind, explained.basis) == ("kafka", "initial offset file")


def test_a_declared_format_settles_it() -> None:
    explained = explain(SourceEvidence(ORDERS, initial=INITIAL, declared_format="kafka"))

    assert (explained.kind, explained.candidates, explained.note) == ("kafka", ("kafka",), None)


def test_declared_event_hubs_are_not_taken_for_kafka() -> None:
    explained = explain(SourceEvidence(ORDERS, initial=INITIAL, declared_format="eventhubs"))

    assert (explained.kind, explained.candidates) == ("unknown", ("eventhubs",))


def test_partitions_come_in_the_order_of_their_numbers() -> None:
    explained = explain(SourceEvidence('{"b":{"0":1},"a":{"10":3,"9":2}}'))

    assert repr(explained.decoded) == "{'a': {'9': 2, '10': 3}, 'b': {'0': 1}}"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ('{"orders":{"0":12345}}', "orders: partition 0, next 12,345"),
        (ORDERS, "orders: 3 partitions, next 7 to 123"),
        ('{"orders":{"0":5,"1":5}}', "orders: 2 partitions, next 5"),
        ('{"a":{"0":1},"b":{"0":2}}', "2 topics: 2 partitions, next 1 to 2"),
        ('{"%s":{"0":1}}' % ("long" * 30), "long" * 14 + "lon…"),
    ],
)
def test_the_summary_fits_a_table_cell(text: str, summary: str) -> None:
    assert explain(SourceEvidence(text)).summary == summary


def test_no_partitions_yet_is_read_where_the_source_is_certain() -> None:
    explained = explain(SourceEvidence("{}", initial=b"\0v1\n{}"))

    assert (explained.kind, explained.summary) == ("kafka", "no partitions yet")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"orders":{"0":"x"}}', "HF2106"),
        ('{"orders":{"zero":1}}', "HF2106"),
        ('{"orders":{"01":1}}', "HF2106"),
        ('{"orders":{"2147483648":1}}', "HF2106"),
        ('{"orders":[1]}', "HF2106"),
        ("17", "HF2106"),
        ('{"orders":{"0":-1}}', "HF2107"),
        ('{"orders":{"0":9223372036854775808}}', "HF2107"),
        ('{"orders":{"0":1}', "HF2105"),
    ],
)
def test_what_kafka_could_not_have_written_is_refused(text: str, code: str) -> None:
    with pytest.raises(DecodeError) as raised:
        explain(SourceEvidence(text, initial=INITIAL))
    assert raised.value.code.number == code


def test_a_file_of_zeros_is_no_proof_of_kafka() -> None:
    assert explain(SourceEvidence("17", initial=bytes(64))).kind == "unknown"


def test_records_are_counted_by_partition() -> None:
    before, after = '{"orders":{"0":10,"1":5}}', '{"orders":{"0":13,"1":5}}'

    amount = amount_between("kafka", SourceEvidence(before), SourceEvidence(after))

    assert amount == Amount("records", 3, {"orders-0": 3, "orders-1": 0})


def test_the_first_batch_is_counted_from_the_initial_offset() -> None:
    after = SourceEvidence('{"orders":{"0":13,"1":5}}', initial=INITIAL)

    assert amount_between("kafka", None, after).total == 8


def test_the_initial_offset_of_spark_2_1_has_no_version_line() -> None:
    after = SourceEvidence('{"t":{"0":13}}', initial=b'\0{"t":{"0":10}}')

    assert amount_between("kafka", None, after).total == 3


def test_a_first_batch_without_an_initial_offset_is_not_guessed() -> None:
    amount = amount_between("kafka", None, SourceEvidence(ORDERS))

    assert amount.total is None
    assert amount.note is not None


@pytest.mark.parametrize("initial", [b"\0v1\n{", b"\0v1\n\xff", b"\0v1"])
def test_a_damaged_initial_offset_is_refused(initial: bytes) -> None:
    with pytest.raises(DecodeError):
        amount_between("kafka", None, SourceEvidence(ORDERS, initial=initial))


def test_a_new_partition_leaves_the_total_open() -> None:
    before, after = '{"t":{"0":10}}', '{"t":{"0":12,"1":400}}'

    amount = amount_between("kafka", SourceEvidence(before), SourceEvidence(after))

    assert (amount.total, amount.parts) == (None, {"t-0": 2})
    assert amount.note is not None
    assert "new partition t-1" in amount.note


def test_a_partition_that_is_gone_gave_no_records() -> None:
    before, after = SourceEvidence('{"t":{"0":10,"1":9}}'), SourceEvidence('{"t":{"0":12}}')

    amount = amount_between("kafka", before, after)

    assert (amount.total, amount.note) == (2, "partition t-1 gone")
    assert moved_back("kafka", before, after) == "partition t-1 gone"


def test_a_partition_that_went_back_is_told_and_not_counted() -> None:
    before = SourceEvidence('{"t":{"0":10,"1":9}}')
    after = SourceEvidence('{"t":{"0":4,"1":9}}')

    amount = amount_between("kafka", before, after)

    assert (amount.total, amount.parts, amount.note) == (None, {"t-1": 0}, "t-0 went back")
    assert moved_back("kafka", before, after) == "the next record went back: t-0 from 10 to 4"
    assert moved_back("kafka", after, before) is None
