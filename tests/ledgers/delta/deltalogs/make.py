"""Makes the Delta logs of this folder with real Spark and Delta: one of each kind of checkpoint.

    python -m tests.ledgers.delta.deltalogs.make

Each is packed as it is after Delta's own cleanup: versions up to the checkpoint are gone. The
summaries beside versions are left out, as writers before Delta 4 leave them: with them nobody needs
the checkpoint.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.corpus.session import start_session
from tests.parts.libraries import DELTA, jars_for

HERE = Path(__file__).resolve().parent
VERSIONS = 9
INTERVAL = 4
APPLICATIONS = 3
KINDS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "classic": ({}, {}),
    "multi-part": ({"spark.databricks.delta.checkpoint.partSize": "6"}, {}),
    "v2-parquet": (
        {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"},
        {"delta.checkpointPolicy": "v2"},
    ),
    "v2-json": (
        {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"},
        {"delta.checkpointPolicy": "v2"},
    ),
}
"""Settings of the session and properties of the table by the kind of checkpoint that they make."""


def main() -> None:
    """Make every log."""
    jars = ",".join(map(str, jars_for("spark")))
    spark = start_session({**DELTA, "spark.jars": jars})
    with tempfile.TemporaryDirectory() as folder:
        for kind, (settings, properties) in KINDS.items():
            for key, value in settings.items():
                spark.conf.set(key, value)
            table = Path(folder) / kind
            write(spark, table, properties)
            pack(table / "_delta_log", HERE / f"{kind}.zip")
            for key in settings:
                spark.conf.unset(key)
    spark.stop()


def write(spark: Any, table: Path, properties: dict[str, str]) -> None:
    """Append a few times under a few application ids; version 8 has the newest checkpoint."""
    kept = {
        "delta.checkpointInterval": str(INTERVAL),
        "delta.setTransactionRetentionDuration": "interval 1000 weeks",
        **properties,
    }
    for version in range(VERSIONS + 1):
        writer = spark.range(version, version + 1).coalesce(1).write.format("delta").mode("append")
        for key, value in kept.items():
            writer = writer.option(key, value)
        application = f"application-{version % APPLICATIONS}"
        writer.option("txnAppId", application).option("txnVersion", version).save(str(table))


def pack(log: Path, archive: Path) -> None:
    """Pack what is left after a cleanup."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(log.rglob("*")):
            version = re.fullmatch(r"(\d{20})\.json", path.name)
            cleaned = version is not None and int(version[1]) <= VERSIONS - 1
            if path.is_file() and path.suffix != ".crc" and not cleaned:
                name = zipfile.ZipInfo(path.relative_to(log).as_posix())
                packed.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
