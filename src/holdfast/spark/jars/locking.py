"""Write lock.json again: `python -m holdfast.spark.jars.locking`, run by whoever adds a release.

What Spark itself ships is left out: Java would load Spark's own copy anyway. S3 is wanted for the
installed pyspark's release alone, because which jars that ships is seen from its folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from holdfast.spark.jars.ivy import Dependency, arrived, run_ivy
from holdfast.spark.jars.lock import LOCK_FILE, Jar
from holdfast.spark.session.installation import Java, find_java, spark_folder

_ACCELERATOR = "software.amazon.s3.analyticsaccelerator"
_SDK = "software.amazon.awssdk"
_TOKENS = "spark-token-provider-kafka-0-10_2.13"

_POSTGRES = (Dependency("org.postgresql", "postgresql", "42.7.5"),)


def _delta(release: str, revision: str) -> Sequence[Dependency]:
    return (
        Dependency("io.delta", f"delta-spark_{release}_2.13", revision),
        Dependency("io.delta", "delta-storage", revision),
    )


def _kafka(spark: str, clients: str, pool: str) -> Sequence[Dependency]:
    return (
        Dependency("org.apache.spark", "spark-sql-kafka-0-10_2.13", spark),
        Dependency("org.apache.spark", _TOKENS, "4.0.0"),
        Dependency("org.apache.kafka", "kafka-clients", clients),
        Dependency("org.apache.commons", "commons-pool2", pool),
    )


def _s3(hadoop: str, accelerator: str, sdk: str) -> Sequence[Dependency]:
    return (
        Dependency("org.apache.hadoop", "hadoop-aws", hadoop),
        Dependency(_ACCELERATOR, "analyticsaccelerator-s3", accelerator),
        Dependency(_SDK, "s3", sdk, transitive=True),
        Dependency(_SDK, "s3-transfer-manager", sdk, transitive=True),
        Dependency(_SDK, "sts", sdk, transitive=True),
    )


WANTED: Mapping[str, Mapping[str, Sequence[Dependency]]] = {
    "4.0": {
        "delta": _delta("4.0", "4.4.0"),
        "kafka": _kafka("4.0.2", "3.9.1", "2.12.0"),
        "postgres": _POSTGRES,
    },
    "4.1": {
        "delta": _delta("4.1", "4.4.0"),
        "kafka": _kafka("4.1.3", "3.9.1", "2.12.1"),
        "postgres": _POSTGRES,
    },
    "4.2": {
        "delta": _delta("4.2", "4.4.0"),
        "kafka": _kafka("4.2.0", "3.9.2", "2.13.1"),
        "s3": _s3("3.5.0", "1.3.0", "2.35.4"),
        "postgres": _POSTGRES,
    },
    "4.3": {"postgres": _POSTGRES},
}
"""Libraries of Spark and Delta are the ones made for that release; the others are those that they
were built with. The driver of PostgreSQL knows nothing of Spark."""

REASONS: Mapping[str, str] = {
    "delta-spark": "Delta counts its own releases; this one is made for this Spark",
    "delta-storage": "of the same release as delta-spark",
    _TOKENS: "no later one was published to the central repository; tried with Spark 4.2.0",
    "hadoop-aws": "of the same release as the Hadoop that Spark ships",
}
"""Why a version differs from Spark's, by the library's name (without what it is made for)."""

SHIPPED_UNDER_ANOTHER_NAME: Mapping[str, str] = {"commons-logging": "jcl-over-slf4j"}


def main() -> None:
    """Resolve everything that is wanted and write the lock."""
    java = find_java()
    releases = {
        release: {feature: list(_locked(java, wanted)) for feature, wanted in features.items()}
        for release, features in WANTED.items()
    }
    text = json.dumps({"format": 1, "releases": releases}, indent=1)
    LOCK_FILE.write_text(f"{text}\n", encoding="utf-8")


def _locked(java: Java, wanted: Sequence[Dependency]) -> Iterator[Mapping[str, object]]:
    shipped = _shipped()
    with tempfile.TemporaryDirectory() as work:
        said = run_ivy(java, wanted, Path(work))
        files = arrived(Path(work))
        if len(files) < len(wanted):
            raise SystemExit(said)
        for library, file in files.items():
            jar = _jar(library, file)
            if SHIPPED_UNDER_ANOTHER_NAME.get(jar.name, jar.name) not in shipped:
                yield {key: value for key, value in asdict(jar).items() if value is not None}


def _jar(library: Dependency, file: Path) -> Jar:
    data = file.read_bytes()
    return Jar(
        library.organisation,
        library.name,
        library.revision,
        hashlib.sha256(data).hexdigest(),
        len(data),
        REASONS.get(library.name, REASONS.get(library.name.partition("_")[0])),
    )


def _shipped() -> frozenset[str]:
    """Name the artifacts that the installed pyspark brings."""
    names = (file.stem for file in (spark_folder() / "jars").glob("*.jar"))
    return frozenset(re.sub(r"-\d[\w.\-]*$", "", name) for name in names)


if __name__ == "__main__":
    main()
