"""A function in a jar: no plan shows its code, so that the jar itself is compared."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyspark
import pytest

from holdfast.records.facts import QueryFacts
from holdfast.spark.facts import query_facts

pytestmark = pytest.mark.spark

SOURCE = """
package shop;
public class Upper implements org.apache.spark.sql.api.java.UDF1<String, String> {
    public String call(String text) { return text.toUpperCase(); }
}
"""


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """A jar with one function."""
    if shutil.which("javac") is None:
        pytest.skip("only a JDK has a compiler")
    (tmp_path / "Upper.java").write_text(SOURCE, encoding="utf-8")
    known = f"{Path(pyspark.__file__).parent / 'jars'}/*"
    subprocess.run(["javac", "-cp", known, "-d", "classes", "Upper.java"], cwd=tmp_path, check=True)
    made = shutil.make_archive(str(tmp_path / "upper"), "zip", tmp_path / "classes")
    return Path(shutil.move(made, tmp_path / "upper.jar"))


def test_the_jar_of_a_function_is_part_of_the_code(spark: Any, jar: Path) -> None:
    """By its content, wherever Spark has fetched it to; a query without one has none."""
    spark.sql(f"ADD JAR '{jar}'")
    spark.udf.registerJavaFunction("upper_of_shop", "shop.Upper", "string")
    frame = spark.readStream.format("rate").load()

    def seen() -> QueryFacts:
        return query_facts(frame.selectExpr("upper_of_shop(cast(value as string)) as u"))

    first = seen()
    assert list(first.code) == ["jar upper.jar"]
    assert first.code["jar upper.jar"].startswith("sha256:")
    assert "the code of the Scala function upper_of_shop" in first.unknown
    assert seen().code == first.code
    assert query_facts(frame).code == {}
