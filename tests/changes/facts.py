"""Plans the queries before and after every change and keeps their facts beside the truth.

`python -m tests.changes.facts [--only NAME …] [--group GROUP …]`; nothing is executed. The
facts are `truth/facts/<group>.json`, so that a test can judge every change without Spark.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.records.documents import document_of
from holdfast.spark.facts import query_facts
from tests.changes.bench import standing
from tests.changes.generated import GENERATED
from tests.changes.inputs import batches_in, write_inputs
from tests.changes.loading import FACTS, read_facts
from tests.changes.pair import Pair, Query
from tests.changes.pairs import PAIRS
from tests.changes.record import options_of, session, wanted

ROOT = Path("/tmp/holdfast-changes")
"""A fixed place: paths are facts."""


def main(arguments: Sequence[str]) -> None:
    """Keep the facts of what was asked for, or of everything."""
    options = options_of(arguments)
    end = time.monotonic() + options.seconds
    spark = session()
    for pair in (*PAIRS, *GENERATED):
        if time.monotonic() > end:
            break
        if wanted(pair, options, read_facts(pair.group)):
            write(pair, facts_of(spark, pair))
            print(pair.group, pair.name, flush=True)
    spark.stop()


def facts_of(spark: Any, pair: Pair) -> dict[str, Any]:
    """Return the facts before and after, with what happens between the runs."""
    folder = ROOT / pair.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        write_inputs(folder, pair.first)
        before = planned(spark, pair.before, folder)
        if pair.between is not None:
            pair.between(folder)
        write_inputs(folder, pair.second, start=batches_in(pair.first))
        return {"before": before, "after": planned(spark, pair.after, folder)}
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)


def planned(spark: Any, query: Query, folder: Path) -> dict[str, Any]:
    """Return the facts of one version of the query as plain data."""
    with standing(spark, query, folder) as bench:
        frame = query.build(bench)
        transforms = [module.query for module in bench.code.values() if hasattr(module, "query")]
        called = [("transform", one) for one in transforms]
        return document_of(query_facts(frame, query.mode, called))


def write(pair: Pair, found: dict[str, Any]) -> None:
    """Put the facts of a pair among the others of its group, one line each."""
    known = {one.name for one in (*PAIRS, *GENERATED) if one.group == pair.group}
    kept = {name: one for name, one in {**read_facts(pair.group), pair.name: found}.items()
            if name in known}  # fmt: skip
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False, sort_keys=True)}"
        for name, one in sorted(kept.items())
    )
    FACTS.mkdir(parents=True, exist_ok=True)
    (FACTS / f"{pair.group}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
