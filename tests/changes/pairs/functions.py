"""Changes of the user's Python functions, which no plan shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.changes.pair import LATER, Pair, Query, grouped, updating

UDF = """
from pyspark.sql.functions import udf

@udf("string")
def group_of(user):
    return user.upper()
"""
HELPED = """
from pyspark.sql.functions import udf
from naming import spelled

@udf("string")
def group_of(user):
    return spelled(user)
"""
NAMING = """
def spelled(user):
    return user.upper()
"""
GLOBAL = """
from pyspark.sql.functions import udf

LIMIT = 3

@udf("string")
def group_of(amount):
    return "large" if amount > LIMIT else "small"
"""
CLOSURE = """
from pyspark.sql.functions import udf

def grouping(limit):
    def group_of(amount):
        return "large" if amount > limit else "small"
    return udf(group_of, "string")

group_of = grouping(3)
"""
DEFAULT = """
from pyspark.sql.functions import udf

@udf("string")
def group_of(amount, limit=3):
    return "large" if amount > limit else "small"
"""
CLASS = """
from pyspark.sql.functions import udf

class Groups:
    limit = 3

    def of(self, amount):
        return "large" if amount > self.limit else "small"

groups = Groups()

@udf("string")
def group_of(amount):
    return groups.of(amount)
"""
PARTIAL = """
from functools import partial
from pyspark.sql.functions import udf

def size(limit, amount):
    return "large" if amount > limit else "small"

group_of = udf(partial(size, 3), "string")
"""
NESTED = """
from pyspark.sql.functions import udf

LEVELS = {"large": 3, "huge": 6}

@udf("string")
def group_of(amount):
    fitting = [name for name, least in LEVELS.items() if amount > least]
    return fitting[-1] if fitting else "small"
"""
PANDAS = """
import pandas as pd
from pyspark.sql.functions import pandas_udf

@pandas_udf("string")
def group_of(users: pd.Series) -> pd.Series:
    return users.str.upper()
"""
MAPPED = """
def doubled(frames):
    for frame in frames:
        frame["amount"] = frame["amount"] * 2
        yield frame[["user", "amount"]]
"""
LOADED = """
import json
from pathlib import Path
from pyspark.sql.functions import udf

LIMIT = json.loads((Path(__file__).parent.parent / "table" / "limit.json").read_text())["limit"]

@udf("string")
def group_of(amount):
    return "large" if amount > LIMIT else "small"
"""


def by_user(**code: str) -> Query:
    """Return a count by what the user's function makes of the user."""
    return updating(
        lambda b: b.orders().groupBy(b.code["job"].group_of("user").alias("g")).count(), code=code
    )


def by_amount(**code: str) -> Query:
    """Return a count by what the user's function makes of the amount."""
    return updating(
        lambda b: b.orders().groupBy(b.code["job"].group_of("amount").alias("g")).count(), code=code
    )


def two_lambdas(key: str, value: str) -> Query:
    """Return a sum of what a function makes of the amount, by what another one does."""
    job = f"""
from pyspark.sql.functions import udf

key_of = udf({key}, "long")
value_of = udf({value}, "long")
"""

    def build(bench: Any) -> Any:
        code = bench.code["job"]
        made = (code.key_of("amount").alias("k"), code.value_of("amount").alias("v"))
        return bench.orders().select(*made).groupBy("k").sum("v")

    return updating(build, code={"job": job})


def rows(**code: str) -> Query:
    """Return a query that keeps nothing and calls the user's function."""
    return Query(lambda b: b.orders().select("user", b.code["job"].group_of("user")), code=code)


def mapped(**code: str) -> Query:
    """Return a sum of what the user's function makes of all rows."""

    def build(bench: Any) -> Any:
        mapped = bench.orders().mapInPandas(bench.code["job"].doubled, "user string, amount long")
        return mapped.groupBy("user").sum("amount")

    return updating(build, code=code)


def filtered(**code: str) -> Query:
    """Return a count of the orders that the user's function calls large."""

    def build(bench: Any) -> Any:
        orders = bench.orders()
        large = orders.where(bench.code["job"].group_of("amount") == "large")
        return large.groupBy("user").count()

    return updating(build, code=code)


def limit(value: int, folder: Path) -> None:
    """Write the file that the user's module reads when it is imported."""
    (folder / "table").mkdir(parents=True, exist_ok=True)
    (folder / "table" / "limit.json").write_text(json.dumps({"limit": value}), encoding="utf-8")


LOWER = UDF.replace("user.upper()", "user.lower()")
PLAIN = by_user(job=UDF)
SIZES = by_amount(job=GLOBAL)

PAIRS = grouped(
    "functions",
    (
        Pair("udf-unchanged", "nothing", PLAIN, PLAIN, harmless=True),
        Pair("udf-body", "upper() → lower(), it gives the key", PLAIN, by_user(job=LOWER)),
        Pair(
            "udf-body-in-a-filter",
            "amount > 3 → amount > 5 inside a function, below a count",
            filtered(job=GLOBAL),
            filtered(job=GLOBAL.replace("> LIMIT", "> LIMIT + 2")),
            meant=True,
        ),
        Pair(
            "udf-helper-in-another-module",
            "upper() → lower() in a module that the function calls",
            by_user(naming=NAMING, job=HELPED),
            by_user(naming=NAMING.replace("upper", "lower"), job=HELPED),
        ),
        Pair("udf-global", "LIMIT = 3 → 5", SIZES, by_amount(job=GLOBAL.replace("= 3", "= 5"))),
        Pair(
            "udf-lambdas-swapped",
            "two functions of one name: the key and the sum call the other one's",
            two_lambdas("lambda v: v % 3", "lambda v: v * 2"),
            two_lambdas("lambda v: v * 2", "lambda v: v % 3"),
        ),
        Pair(
            "udf-closure",
            "grouping(3) → grouping(5)",
            by_amount(job=CLOSURE),
            by_amount(job=CLOSURE.replace("grouping(3)", "grouping(5)")),
        ),
        Pair(
            "udf-default",
            "limit=3 → limit=5",
            by_amount(job=DEFAULT),
            by_amount(job=DEFAULT.replace("limit=3", "limit=5")),
        ),
        Pair(
            "udf-class-attribute",
            "Groups.limit = 3 → 5",
            by_amount(job=CLASS),
            by_amount(job=CLASS.replace("limit = 3", "limit = 5")),
        ),
        Pair(
            "udf-method",
            "a method that the function calls: > → >=",
            by_amount(job=CLASS),
            by_amount(job=CLASS.replace("amount > self", "amount >= self")),
        ),
        Pair(
            "udf-partial",
            "partial(size, 3) → partial(size, 5)",
            by_amount(job=PARTIAL),
            by_amount(job=PARTIAL.replace("size, 3", "size, 5")),
        ),
        Pair(
            "udf-dictionary",
            "a value inside a global dictionary: 3 → 4",
            by_amount(job=NESTED),
            by_amount(job=NESTED.replace('"large": 3', '"large": 4')),
        ),
        Pair(
            "udf-return-type",
            "string → int",
            by_amount(job=GLOBAL),
            by_amount(
                job=GLOBAL.replace('"string"', '"int"')
                .replace('"large"', "1")
                .replace('"small"', "0")
            ),
        ),
        Pair(
            "udf-stateless",
            "upper() → lower(), nothing is kept",
            rows(job=UDF),
            rows(job=LOWER),
            right=LATER,
        ),
        Pair(
            "pandas-udf-body",
            "str.upper() → str.lower(), it gives the key",
            by_user(job=PANDAS),
            by_user(job=PANDAS.replace("upper", "lower")),
        ),
        Pair(
            "map-in-pandas-body",
            "amount * 2 → amount * 3, below a sum",
            mapped(job=MAPPED),
            mapped(job=MAPPED.replace("* 2", "* 3")),
            meant=True,
        ),
        Pair(
            "udf-argument",
            "group_of(user) → group_of(city)",
            PLAIN,
            updating(
                lambda b: b.orders().groupBy(b.code["job"].group_of("city").alias("g")).count(),
                code={"job": UDF},
            ),
        ),
        Pair(
            "udf-file-read-at-import",
            "a file that the module reads: 3 → 5",
            updating(
                lambda b: b.orders().groupBy(b.code["job"].group_of("amount")).count(),
                code={
                    "job": LOADED.replace(
                        '(Path(__file__).parent.parent / "table" / "limit.json").read_text()',
                        "'{\"limit\": 3}'",
                    )
                },
            ),
            by_amount(job=LOADED),
            between=lambda folder: limit(5, folder),
        ),
        Pair(
            "udf-commented",
            "comment, docstring and blank lines",
            PLAIN,
            by_user(
                job=UDF.replace(
                    "    return",
                    "    '''The name in capitals.'''\n\n    # Case alone differs.\n    return",
                )
            ),
            harmless=True,
        ),
        Pair(
            "udf-variable-renamed",
            "user → name, with a variable",
            PLAIN,
            by_user(
                job=UDF.replace("(user)", "(name)").replace(
                    "return user.upper()", "result = name.upper()\n    return result"
                )
            ),
            harmless=True,
        ),
        Pair(
            "udf-annotated",
            "type hints",
            PLAIN,
            by_user(job=UDF.replace("(user):", "(user: str) -> str:")),
            harmless=True,
        ),
        Pair(
            "udf-spelled-as-lambda",
            "decorator → udf(lambda)",
            PLAIN,
            by_user(
                job="from pyspark.sql.functions import udf\n"
                "group_of = udf(lambda user: user.upper(), 'string')\n"
            ),
            harmless=True,
        ),
        Pair(
            "udf-helper-extracted",
            "the body moves to a function of another module",
            PLAIN,
            by_user(naming=NAMING, job=HELPED),
            harmless=True,
        ),
        Pair(
            "udf-helper-commented",
            "a comment in a module that the function calls",
            by_user(naming=NAMING, job=HELPED),
            by_user(naming=NAMING.replace("    return", "    # Capitals.\n    return"), job=HELPED),
            harmless=True,
        ),
        Pair(
            "udf-neighbour-changed",
            "another function of the module changes",
            by_user(job=UDF + "\ndef unused():\n    return 1\n"),
            by_user(job=UDF + "\ndef unused():\n    return 2\n"),
            harmless=True,
        ),
        Pair(
            "udf-global-unused",
            "a constant that the function does not use changes",
            by_user(job=UDF + "\nVERSION = 1\n"),
            by_user(job=UDF + "\nVERSION = 2\n"),
            harmless=True,
        ),
        Pair(
            "udf-global-renamed",
            "LIMIT → LARGEST, with the same value",
            SIZES,
            by_amount(job=GLOBAL.replace("LIMIT", "LARGEST")),
            harmless=True,
        ),
        Pair(
            "udf-logging-added",
            "the function logs",
            PLAIN,
            by_user(
                job=UDF.replace(
                    "    return",
                    "    import logging\n    logging.getLogger('job').debug(user)\n    return",
                )
            ),
            harmless=True,
        ),
        Pair(
            "udf-to-built-in",
            "the function → upper()",
            PLAIN,
            updating(lambda b: b.orders().selectExpr("upper(user) as g").groupBy("g").count()),
            harmless=True,
        ),
        Pair(
            "udf-equal-body",
            "upper() → ''.join(c.upper() …)",
            PLAIN,
            by_user(job=UDF.replace("user.upper()", "''.join(c.upper() for c in user)")),
            harmless=True,
        ),
        Pair(
            "pandas-udf-commented",
            "a comment",
            by_user(job=PANDAS),
            by_user(job=PANDAS.replace("    return", "    # Capitals.\n    return")),
            harmless=True,
        ),
    ),
)
