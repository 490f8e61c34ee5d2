"""Facts survive their bytes; the fingerprint sees everything but where code is written."""

from __future__ import annotations

from dataclasses import replace

from holdfast.records.documents import decode_document, document_of, encode_document
from holdfast.records.facts import (
    FACTS_VERSION,
    ColumnFacts,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    SourceFacts,
    StaticFacts,
    StoreFacts,
    WatermarkFacts,
    fingerprint,
)

COLUMN = ColumnFacts("amount", "double", nullable=False)
FACTS = QueryFacts(
    version=FACTS_VERSION,
    spark="4.2.0",
    output_mode="update",
    sources=(SourceFacts("file", "json", {"path": "in"}, (COLUMN,), {"maxFilesPerTrigger": "1"}),),
    operators=(
        OperatorFacts(
            0,
            "stateStoreSave",
            keys=("source0.shop",),
            values=("sum(source0.amount)",),
            settings={"window": "10 minutes"},
            stores=(StoreFacts("default", (COLUMN,), (COLUMN,)),),
            input=("filter (source0.amount > 0)",),
            functions=("pipeline:clean",),
        ),
    ),
    watermarks=(WatermarkFacts("source0.at", 60_000),),
    functions=(FunctionFacts("pipeline:clean", "udf", {"pipeline:clean": "ab"}, (), "p.py:3"),),
    statics=(StaticFacts("dim", None),),
    steps=("project shop",),
    output=(COLUMN,),
    settings={"spark.sql.session.timeZone": "UTC"},
    unknown=("something",),
)


def test_facts_survive_their_bytes() -> None:
    content = encode_document(document_of(FACTS))
    assert decode_document(QueryFacts, content) == FACTS


def test_the_fingerprint_sees_every_fact_but_the_place_of_code() -> None:
    moved = replace(FACTS, functions=(replace(FACTS.functions[0], place="other.py:90"),))
    assert fingerprint(moved) == fingerprint(FACTS)
    nothing = QueryFacts(FACTS_VERSION, "4.2.0", "append")
    for name in ("output_mode", "sources", "operators", "watermarks", "functions", "statics",
                 "steps", "output", "settings", "unknown"):  # fmt: skip
        changed = replace(FACTS, **{name: getattr(nothing, name)})
        assert fingerprint(changed) != fingerprint(FACTS), name
