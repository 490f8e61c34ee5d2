"""Connects the driver's JVM to a database through JDBC, as Spark's executors do.

The driver class is found among the jars of the session, so that nobody has to name it. Connections
come from Spark's own factory: what logs an executor in logs the driver in. Whatever a driver raises
is a DatabaseFailure: lost, contended or refused; no values of rows, no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.redaction import excerpt, redact, remember_secret
from holdfast.spark.sinks.database.dialect import DatabaseFailure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

H2 = "jdbc:h2:"
_READ_COMMITTED = 2
"""What others committed while we waited for a lock has to be seen."""
_LONGEST = 300
_LOST_CLASSES = (
    "java.sql.SQLNonTransientConnectionException",
    "java.sql.SQLTransientConnectionException",
    "java.sql.SQLRecoverableException",
)
_LOST_STATES = ("08", "57P0")
_CONTENDED_CLASSES = ("java.sql.SQLTransientException",)
_CONTENDED_STATES = ("40", "55P03", "57014", "HYT00")
_DUPLICATE_STATES = ("23",)
# `Value too long for column …: "'…' (4)"` and `Key (k)=(…)` end with what stood in the row.
_VALUE = re.compile(r':\s*["\'].*|\(.*?\)=\(.*|; SQL statement.*', re.DOTALL)
_TEXT = re.compile(r"'[^']*'")
_USER = re.compile(r"(?<=[:/])[^/:@]*[:/][^@/]*@|(?<=//)[^/@]*@")


class JdbcDatabase:
    """One database, as a sink names it."""

    def __init__(self, session: SparkSession, sink: ReadySink, url: str) -> None:
        self._session = session
        self._sink = sink
        self.url = url
        for name, value in sink.options.items():
            if name.lower() == "password" and value:
                remember_secret(value)

    @property
    def shown(self) -> str:
        """The URL without parameters and secrets."""
        return redact(_USER.sub("", re.split("[?;]", self.url, maxsplit=1)[0]))

    @property
    def jvm(self) -> Any:
        """The JVM of the session."""
        return self._session._jvm

    @cached_property
    def options(self) -> Mapping[str, str]:
        """What Spark's writer gets: the user's options, the URL and the driver's class."""
        return {**self._sink.options, "url": self.url, "driver": self._driver()}

    @cached_property
    def dialect(self) -> Any:
        """What Spark knows of this kind of database."""
        return self.jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.url)

    @contextmanager
    def connected(self) -> Iterator[JdbcConnection]:
        """Connect; every statement is a transaction of its own unless one is begun."""
        with translated():
            raw = self._factory.apply(-1)
        try:
            yield JdbcConnection(raw)
        finally:
            _close(raw)

    @cached_property
    def _factory(self) -> Any:
        spark = self.jvm.org.apache.spark
        options = spark.api.python.PythonUtils.toScalaMap(dict(self.options))
        # The table is the writer's affair; something has to stand there.
        declared = spark.sql.execution.datasources.jdbc.JDBCOptions(self.url, "none", options)
        return self.dialect.createConnectionFactory(declared)

    def _driver(self) -> str:
        """Name the driver's class; raise HF5070 where the session has none for this URL."""
        loader = self.jvm.java.lang.Thread.currentThread().getContextClassLoader()
        given = [value for name, value in self._sink.options.items() if name.lower() == "driver"]
        if given:
            try:
                loader.loadClass(given[0])
            except Py4JJavaError:
                message = f"the driver {given[0]} is not in any jar of the session"
                raise SinkError("HF5070", message, at=self._sink.at) from None
            return given[0]
        service = self.jvm.java.lang.Class.forName("java.sql.Driver")
        drivers = self.jvm.java.util.ServiceLoader.load(service, loader).iterator()
        while drivers.hasNext():
            driver = drivers.next()
            if driver.acceptsURL(self.url):
                return str(driver.getClass().getName())
        message = f"no jar of the session contains a driver for {self.shown}"
        raise SinkError("HF5070", message, at=self._sink.at)


class JdbcConnection:
    """A connection; whatever the driver raises is a DatabaseFailure."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    @cached_property
    def metadata(self) -> Any:
        """What the driver says of the database."""
        with translated():
            return self.raw.getMetaData()

    @property
    def catalogue(self) -> str | None:
        """The catalogue that is connected to."""
        with translated():
            found = self.raw.getCatalog()
        return None if found is None else str(found)

    @property
    def schema(self) -> str | None:
        """The schema of a table that is named without one."""
        with translated():
            found = self.raw.getSchema()
        return None if found is None else str(found)

    def execute(self, statement: str, *values: str | int, seconds: int = 0) -> int:
        """Execute a statement, and return how many rows it touched; 0 seconds wait for ever."""
        with self._prepared(statement, values, seconds) as prepared:
            return max(int(prepared.executeUpdate()), 0)

    def rows(self, statement: str, *values: str | int, most: int = 0) -> list[tuple[Any, ...]]:
        """Return what a query finds, at most so many rows; 0 means all."""
        with self._prepared(statement, values, 0) as prepared:
            prepared.setMaxRows(most)
            found, result = [], prepared.executeQuery()
            width = int(result.getMetaData().getColumnCount())
            while result.next():
                found.append(tuple(result.getObject(place + 1) for place in range(width)))
            return found

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything in the block at its end; take all of it back where it raises."""
        with translated():
            if self.metadata.supportsTransactionIsolationLevel(_READ_COMMITTED):
                self.raw.setTransactionIsolation(_READ_COMMITTED)
            self.raw.setAutoCommit(False)
        try:
            yield
        except BaseException:
            self._roll_back()
            raise
        with translated():
            self.raw.commit()
            self.raw.setAutoCommit(True)

    def _roll_back(self) -> None:
        try:
            self.raw.rollback()
            self.raw.setAutoCommit(True)
        except Py4JJavaError:
            # The connection is gone, and with it the transaction; the block's own error says more.
            return

    @contextmanager
    def _prepared(
        self, statement: str, values: tuple[str | int, ...], seconds: int
    ) -> Iterator[Any]:
        with translated():
            prepared = self.raw.prepareStatement(statement)
            try:
                if seconds:
                    prepared.setQueryTimeout(seconds)
                for place, value in enumerate(values, start=1):
                    put = prepared.setString if isinstance(value, str) else prepared.setLong
                    put(place, value)
                yield prepared
            finally:
                _close(prepared)


@contextmanager
def translated() -> Iterator[None]:
    """Let what Java throws in the block be a DatabaseFailure."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        thrown = thrown_by(error)
        if thrown is None:
            raise
        raise failure_of(thrown) from error


def thrown_by(error: Exception) -> Any | None:
    """Return what Java threw, None where the error is Python's own."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def words_of(error: Exception) -> str:
    """Return any error in one line that may be shown."""
    return shown_words(str(error))


def failure_of(thrown: Any) -> DatabaseFailure:
    """Judge what Java threw; `thrown` is the Java object."""
    found = sql_exception_in(thrown)
    if found is None:
        words = shown_words(f"{thrown.getClass().getSimpleName()}: {thrown.getMessage()}")
        return DatabaseFailure(words)
    state = str(found.getSQLState() or "")
    classes = _classes(found)
    lost = state.startswith(_LOST_STATES) or not classes.isdisjoint(_LOST_CLASSES)
    contended = state.startswith(_CONTENDED_STATES) or not classes.isdisjoint(_CONTENDED_CLASSES)
    return DatabaseFailure(
        shown_words(str(found.getMessage())),
        lost=lost,
        contended=contended and not lost,
        duplicate=state.startswith(_DUPLICATE_STATES),
    )


def sql_exception_in(thrown: Any) -> Any | None:
    """Return the innermost exception of a database among the causes, None where there is none."""
    found = None
    while thrown is not None:
        if "java.sql.SQLException" in _classes(thrown):
            found = thrown
        thrown = thrown.getCause()
    return found


def shown_words(message: str) -> str:
    """Return a driver's message in one line: no values of rows, no secrets."""
    line = message.strip().partition("\n")[0]
    return excerpt(redact(_TEXT.sub("'…'", _VALUE.sub("", line))), _LONGEST)


def _classes(thrown: Any) -> frozenset[str]:
    names, one = set(), thrown.getClass()
    while one is not None:
        names.add(str(one.getName()))
        one = one.getSuperclass()
    return frozenset(names)


def _close(closeable: Any) -> None:
    try:
        closeable.close()
    except Py4JJavaError:
        # What can't be closed is broken already; what broke it has been raised.
        return
