"""The user's own line, in exceptions of this process and in the texts of others."""

from __future__ import annotations

import json
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException

from holdfast.spark.failures import UserLine, class_raised_in, user_line, user_line_in

PROJECT = Path("/srv/sensors")
WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/pyspark/python/lib/pyspark.zip/pyspark/worker.py", line 9
    process()
  File "/srv/sensors/steps/gold.py", line 12, in share
    return parse(value)
           ^^^^^^^^^^^^
  File "/opt/lib/python3.11/site-packages/parser.py", line 4, in parse
    raise ValueError
parser.errors.BadValue: no number: 'x'
second line
"""
PROXY = """[STREAM_FAILED] An exception was raised by the Python Proxy. Return Message: Traceback \
(most recent call last):
  File "/opt/lib/python3.11/site-packages/py4j/clientserver.py", line 644, in _call_proxy
    return_value = call()
  File "/srv/sensors/pipeline.py", line 3, in deliver
    batch.write.save()
  File "/opt/lib/python3.11/site-packages/pyspark/errors/exceptions/captured.py", line 257, in deco
    raise converted from None
"""


def raised(error: BaseException) -> BaseException:
    """Give an exception the traceback of a real one."""
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001
        return caught


def test_the_deepest_line_of_the_project_is_the_user_s() -> None:
    """Not the worker's above it, nor the library's below it."""
    expected = UserLine("steps/gold.py", 12, "BadValue", "no number: 'x'")
    assert user_line_in(WORKER, PROJECT) == expected
    assert expected.shown == "steps/gold.py:12 BadValue: no number: 'x'"


def test_a_line_outside_of_the_project_is_better_than_none() -> None:
    """A program may pass a function from anywhere that is no library."""
    found = user_line_in(WORKER, Path("/elsewhere"))
    assert found is not None
    assert found.at == "/srv/sensors/steps/gold.py:12"


def test_the_project_s_own_lines_come_first() -> None:
    """What the project calls may be in a folder that is no library's."""
    text = WORKER.replace("/opt/lib/python3.11/site-packages/parser.py", "/srv/shared/parser.py")
    found = user_line_in(text, PROJECT)
    assert found is not None
    assert found.at == "steps/gold.py:12"


def test_of_errors_that_follow_each_other_the_last_counts() -> None:
    """It is the one that ended the job."""
    text = f"{WORKER}\nDuring handling of the above exception, another exception occurred:\n\n"
    text += "Traceback (most recent call last):\n"
    text += '  File "/srv/sensors/last.py", line 1, in <module>\n    x\nKeyError: 1'
    found = user_line_in(text, PROJECT)
    assert found is not None
    assert found.shown == "last.py:1 KeyError: 1"


def test_the_innermost_traceback_counts() -> None:
    """The driver's stands around the worker's."""
    text = f"{PROXY}pyspark.errors.exceptions.captured.PythonException: {WORKER}"
    found = user_line_in(text, PROJECT)
    assert found is not None
    assert found.at == "steps/gold.py:12"


def test_the_line_that_had_spark_run_is_not_to_blame() -> None:
    """An error while Spark runs a query has no line; one while it is built has."""
    running = f"{PROXY}pyspark.errors.exceptions.captured.ArithmeticException: [DIVIDE_BY_ZERO] x"
    assert user_line_in(running, PROJECT) is None
    assert user_line_in(f"{PROXY}py4j.protocol.Py4JJavaError: An error occurred", PROJECT) is None
    building = f"{PROXY}pyspark.errors.exceptions.captured.AnalysisException: [NO_COLUMN] x"
    found = user_line_in(building, PROJECT)
    assert found is not None
    assert found.shown == "pipeline.py:3 AnalysisException: [NO_COLUMN] x"


def test_a_text_without_a_traceback_has_no_line() -> None:
    """Most errors of Spark."""
    assert user_line_in("[PATH_NOT_FOUND] Path does not exist", PROJECT) is None
    assert class_raised_in("[PATH_NOT_FOUND] Path does not exist") is None
    assert class_raised_in(WORKER) == "BadValue"


def test_an_exception_s_own_traceback() -> None:
    """The deepest frame that is neither Python's nor a library's."""
    try:
        json.loads("no json")
    except ValueError as error:
        found = user_line(error, Path(__file__).parent)
    assert found is not None
    assert (found.file, found.kind) == (Path(__file__).name, "JSONDecodeError")


def test_spark_s_exceptions_by_when_they_were_raised() -> None:
    """As in texts: an analysis has a line, a run has none."""
    analysis = raised(AnalysisException("[NO_COLUMN] x. SQLSTATE: 42703;\n'Project"))
    found = user_line(analysis, Path(__file__).parent)
    assert found is not None
    assert found.message == "[NO_COLUMN] x"
    assert user_line(raised(Py4JError("An error occurred")), Path(__file__).parent) is None


def test_messages_are_bounded_and_without_secrets() -> None:
    """Whatever the user's code raises."""
    error = raised(ValueError(f"postgresql://u:Secr3tOfAll@db {'x' * 900}"))
    found = user_line(error, Path(__file__).parent)
    assert found is not None
    assert len(found.message) <= 300
    assert "Secr3tOfAll" not in found.message
