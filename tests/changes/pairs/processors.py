"""Changes of functions with state: applyInPandasWithState and transformWithState."""

from __future__ import annotations

from typing import Any

from tests.changes.bench import ROCKSDB
from tests.changes.pair import ABOVE, Pair, Query, grouped

PROVIDER = {
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.shuffle.partitions": "1",
}
AVRO = {**PROVIDER, "spark.sql.streaming.stateStore.encodingFormat": "avro"}

GROUPS = """
import pandas as pd

def keep(key, frames, state):
    total = state.get[0] if state.exists else 0
    for frame in frames:
        total += int(frame["amount"].sum())
    state.update((total,))
    yield pd.DataFrame({"user": [key[0]], "total": [total]})
"""
PROCESSOR = """
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor

class Totals(StatefulProcessor):
    def init(self, handle):
        self.total = handle.getValueState("total", "total long")

    def handleInputRows(self, key, rows, timerValues):
        total = self.total.get()[0] if self.total.exists() else 0
        for frame in rows:
            total += int(frame["amount"].sum())
        self.total.update((total,))
        yield pd.DataFrame({"user": [key[0]], "total": [total]})

    def close(self):
        pass
"""
ROWS = """
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

class Totals(StatefulProcessor):
    def init(self, handle):
        self.total = handle.getValueState("total", "total long")

    def handleInputRows(self, key, rows, timerValues):
        total = self.total.get()[0] if self.total.exists() else 0
        total += sum(row["amount"] for row in rows)
        self.total.update((total,))
        yield Row(user=key[0], total=total)

    def close(self):
        pass
"""
LIST = PROCESSOR.replace(
    'getValueState("total", "total long")', 'getListState("total", "total long")'
)
LIST = LIST.replace("self.total.get()[0] if self.total.exists() else 0",
                    "sum(one[0] for one in self.total.get())")  # fmt: skip
LIST = LIST.replace("self.total.update((total,))", "self.total.put([(total,)])")


def grouped_state(
    code: str, state: str = "total long", output: str = "user string, total long",
    timeout: str = "NoTimeout", key: str = "user",
) -> Query:  # fmt: skip
    """Return a query with applyInPandasWithState."""

    def build(bench: Any) -> Any:
        keep = bench.code["job"].keep
        groups = bench.orders().groupBy(key)
        return groups.applyInPandasWithState(keep, output, state, "update", timeout)

    no_data = {
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    return Query(build, "update", (0,), code={"job": code}, settings=no_data)


def processed(
    code: str = PROCESSOR, *, rows: bool = False, time: str = "None", mode: str = "update",
    name: str = "Totals", key: str = "user", settings: dict[str, str] = PROVIDER,
    output: str = "user string, total long",
) -> Query:  # fmt: skip
    """Return a query with transformWithState, of rows or of pandas frames."""

    def build(bench: Any) -> Any:
        processor = getattr(bench.code["job"], name)()
        groups = bench.orders().groupBy(key)
        transform = groups.transformWithState if rows else groups.transformWithStateInPandas
        return transform(processor, output, mode.title(), time)

    return Query(build, mode, (0,), code={"job": code}, settings=settings)


def variables(first: str, second: str | None) -> str:
    """Return the processor with the variable's name and a second variable."""
    code = PROCESSOR.replace('getValueState("total"', f'getValueState("{first}"')
    if second is None:
        return code
    more = f'total long")\n        self.more = handle.getValueState("{second}", "n long")'
    return code.replace('total long")', more, 1)


TTL = PROCESSOR.replace('"total long")', '"total long", 3600000)')
WIDER = PROCESSOR.replace('"total long")', '"total long, note string")').replace(
    "update((total,))", 'update((total, "x"))')  # fmt: skip
SPLIT = GROUPS.replace("state.update((total,))", "state.update((total, 1))")
MAXIMUM = GROUPS.replace('total += int(frame["amount"].sum())',
                         'total = max(total, int(frame["amount"].max()))')  # fmt: skip
BASE, STATE = processed(), grouped_state(GROUPS)

PAIRS = grouped(
    "processors",
    (
        Pair("state-function-unchanged", "nothing", STATE, STATE, harmless=True),
        Pair("state-function-body", "sum → maximum", STATE, grouped_state(MAXIMUM)),
        Pair(
            "state-schema-widened",
            "total long → total long, n long",
            STATE,
            grouped_state(SPLIT, "total long, n long"),
        ),
        Pair(
            "state-schema-type",
            "total long → double",
            STATE,
            grouped_state(
                GROUPS.replace("state.update((total,))", "state.update((float(total),))"),
                "total double",
                "user string, total double",
            ),
        ),
        Pair("state-field-renamed", "total long → t long", STATE, grouped_state(GROUPS, "t long")),
        Pair(
            "state-function-key", "group by user → city", STATE, grouped_state(GROUPS, key="city")
        ),
        Pair(
            "state-function-timeout",
            "no timeout → processing-time timeout, never set",
            STATE,
            grouped_state(GROUPS, timeout="ProcessingTimeTimeout"),
        ),
        Pair(
            "state-function-output",
            "a column of the output is new",
            STATE,
            grouped_state(
                GROUPS.replace('"total": [total]', '"total": [total], "even": [total % 2 == 0]'),
                output="user string, total long, even boolean",
            ),
            right=ABOVE,
        ),
        Pair(
            "state-function-commented",
            "a comment and a renamed variable",
            STATE,
            grouped_state(
                GROUPS.replace("frame", "part").replace(
                    "    total =", "    # What was known.\n    total ="
                )
            ),
            harmless=True,
        ),
        Pair("processor-unchanged", "nothing", BASE, BASE, harmless=True),
        Pair(
            "processor-body",
            "sum → maximum",
            BASE,
            processed(
                PROCESSOR.replace(
                    'total += int(frame["amount"].sum())',
                    'total = max(total, int(frame["amount"].max()))',
                )
            ),
        ),
        Pair("variable-added", "a second variable", BASE, processed(variables("total", "more"))),
        Pair(
            "variable-removed",
            "the second variable is gone",
            processed(variables("total", "more")),
            BASE,
        ),
        Pair("variable-renamed", "total → sum", BASE, processed(variables("sum", None))),
        Pair("variable-kind", "value → list", BASE, processed(LIST)),
        Pair(
            "variable-type",
            "total long → double",
            BASE,
            processed(
                PROCESSOR.replace('"total long"', '"total double"').replace(
                    "update((total,))", "update((float(total),))"
                ),
                output="user string, total double",
            ),
        ),
        Pair("variable-widened", "total long → total long, note string", BASE, processed(WIDER)),
        Pair(
            "variable-widened-in-avro",
            "total long → total long, note string, in Avro",
            processed(settings=AVRO),
            processed(WIDER, settings=AVRO),
        ),
        Pair(
            "ttl-added",
            "one hour to live",
            processed(time="ProcessingTime"),
            processed(TTL, time="ProcessingTime"),
        ),
        Pair(
            "ttl-removed",
            "no time to live any more",
            processed(TTL, time="ProcessingTime"),
            processed(time="ProcessingTime"),
        ),
        Pair(
            "ttl-longer",
            "one → ten hours to live",
            processed(TTL, time="ProcessingTime"),
            processed(TTL.replace("3600000", "36000000"), time="ProcessingTime"),
        ),
        Pair("time-mode", "None → ProcessingTime", BASE, processed(time="ProcessingTime")),
        Pair("processor-output-mode", "update → append", BASE, processed(mode="append")),
        Pair("processor-interface", "pandas frames → rows", BASE, processed(ROWS, rows=True)),
        Pair("processor-key", "group by user → city", BASE, processed(key="city")),
        Pair(
            "processor-renamed",
            "the class has another name",
            BASE,
            processed(PROCESSOR.replace("Totals", "Sums"), name="Sums"),
            harmless=True,
        ),
        Pair(
            "processor-commented",
            "comments and a renamed local variable",
            BASE,
            processed(
                PROCESSOR.replace("frame", "part").replace(
                    "    def close", "    # Nothing is open.\n    def close"
                )
            ),
            harmless=True,
        ),
        Pair(
            "processor-rows-unchanged",
            "nothing, rows",
            processed(ROWS, rows=True),
            processed(ROWS, rows=True),
            harmless=True,
        ),
    ),
)
