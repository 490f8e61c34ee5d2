"""Records what the Spark of this environment does at the next start of every damaged checkpoint.

Started by make.py with the Python of an environment; holdfast is not needed.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from tests.restarts.archive import read_zip
from tests.restarts.bases import BASES, Base, base_named
from tests.restarts.damage import Damage
from tests.restarts.damages import DAMAGES
from tests.restarts.making_bases import make_base
from tests.restarts.notes import notes
from tests.restarts.observing import observe
from tests.restarts.queries import Places, write_inputs

HERE = Path(__file__).parent
ROOT = Path("/tmp/holdfast-restarts")
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.pollingDelay": "5ms",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.sql.warehouse.dir": str(ROOT / "warehouse"),
    "spark.task.maxFailures": "1",
}

Record = dict[str, Any]
Key = tuple[str, str]


def main() -> None:
    """Makes the bases that are missing, then records every pair of base and damage asked for."""
    options = _options()
    spark = _session()
    recorded = _recorded()
    for base in [base for base in BASES if _wanted(base, options)]:
        with _settings_of(spark, base):
            _record_base(spark, base, options, recorded)
        _write(recorded)
    spark.stop()
    shutil.rmtree(ROOT, ignore_errors=True)


def _record_base(
    spark: SparkSession, base: Base, options: argparse.Namespace, recorded: dict[Key, Record]
) -> None:
    files = _base_files(spark, base, options.afresh)
    write_inputs(ROOT, base.batches + 1)
    for number, damage in enumerate(DAMAGES):
        key = (base.name, damage.name)
        if not _damage_wanted(damage, base, options) or (options.missing and key in recorded):
            continue
        damaged = damage.function(files)
        if damaged == files and damage.name != "none":
            recorded.pop(key, None)
            continue
        began = time.monotonic()
        seen = observe(spark, base, Places(ROOT, f"run-{base.name}-{number}"), damaged)
        recorded[key] = {"base": base.name, "damage": damage.name, "how": damage.how, **seen}
        _tell(recorded[key], time.monotonic() - began)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base")
    parser.add_argument("--damage")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--afresh", action="store_true")
    return parser.parse_args()


def _wanted(base: Base, options: argparse.Namespace) -> bool:
    return base.made_by(pyspark.__version__) and options.base in (None, base.name)


def _damage_wanted(damage: Damage, base: Base, options: argparse.Namespace) -> bool:
    return damage.applies(base) and options.damage in (None, damage.name)


def _session() -> SparkSession:
    shutil.rmtree(ROOT, ignore_errors=True)
    builder = SparkSession.builder.master("local[2]").appName("holdfast-restarts")
    for key, text in _SETTINGS.items():
        builder = builder.config(key, text)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


@contextmanager
def _settings_of(spark: SparkSession, base: Base) -> Iterator[None]:
    for key, text in base.settings:
        spark.conf.set(key, text)
    yield
    for key, _ in base.settings:
        spark.conf.unset(key)


def _base_files(spark: SparkSession, base: Base, afresh: bool) -> dict[str, bytes]:
    packed = HERE / "bases" / pyspark.__version__ / f"{base.name}.zip"
    if packed.exists() and not afresh:
        return read_zip(packed)
    return make_base(spark, base, ROOT, packed)


def _truth_file() -> Path:
    return HERE / "truth" / f"{pyspark.__version__}.json"


def _recorded() -> dict[Key, Record]:
    if not _truth_file().exists():
        return {}
    records = json.loads(_truth_file().read_text())
    return {(record["base"], record["damage"]): record for record in records}


def _write(recorded: dict[Key, Record]) -> None:
    bases = [base.name for base in BASES]
    damages = [damage.name for damage in DAMAGES]
    pairs = [(base, damage) for base in bases for damage in damages]
    found = [recorded[pair] for pair in pairs if pair in recorded]
    noted = [{**record, "notes": notes(base_named(record["base"]), record)} for record in found]
    lines = [json.dumps(record, ensure_ascii=False) for record in noted]
    _truth_file().parent.mkdir(parents=True, exist_ok=True)
    _truth_file().write_text("[\n" + ",\n".join(lines) + "\n]\n")


def _tell(record: Record, seconds: float) -> None:
    parts = (record["base"], record["damage"], record["action"], record["batch_id"])
    error = record["error_class"] or ""
    print(*parts, error, f"{seconds:.1f}s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
