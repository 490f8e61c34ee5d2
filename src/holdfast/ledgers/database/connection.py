"""Connects to a PostgreSQL table by its URL, and tells errors without rows or secrets.

The URL is libpq's (`postgresql://…`) or the one of the Java driver (`jdbc:postgresql:…`), whose
parameters are translated; one that nothing is known of is refused, never left out silently.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from holdfast.errors import SinkError
from holdfast.redaction import excerpt, redact, remember_secret

if TYPE_CHECKING:
    import psycopg


_CONNECT_SECONDS = 30
_LONGEST = 300
# `invalid input syntax for type uuid: "…"` ends with what stood in the row.
_VALUE = re.compile(r':\s*".*|\(\d+\)=\(.*', re.DOTALL)
_COLUMN = re.compile(r'\bcolumn "?([^":]+)"?')


def psycopg_here(at: str | None = None) -> Any:
    """Return the module psycopg; raise HF5040 where it cannot be imported."""
    try:
        import psycopg
        import psycopg.conninfo
        import psycopg.errors
        import psycopg.sql
    except ImportError as error:
        raise SinkError("HF5040", f"psycopg cannot be imported: {error}", at=at) from error
    module: ModuleType = psycopg
    return module


def connected(conninfo: str, *, seconds: int = _CONNECT_SECONDS) -> psycopg.Connection[Any]:
    """Connect; every statement is a transaction of its own unless one is begun.

    No statement is prepared on the server: behind a pooler the next one may meet another server
    process.
    """
    library = psycopg_here()
    wanted: dict[str, Any] = {"client_encoding": "UTF8"}
    given = library.conninfo.conninfo_to_dict(conninfo)
    if given.get("password"):
        remember_secret(str(given["password"]))
    if "connect_timeout" not in given:
        wanted["connect_timeout"] = seconds
    if "application_name" not in given:
        wanted["application_name"] = "holdfast"
    connection: psycopg.Connection[Any] = library.connect(
        conninfo, autocommit=True, prepare_threshold=None, **wanted
    )
    return connection


_SILENCE_SECONDS = 10.0
_silent_since: dict[str, float] = {}
"""When a server last let a bounded wait pass, by how it is connected to."""


def connected_within(conninfo: str, seconds: int) -> psycopg.Connection[Any]:
    """Connect for reading; neither connecting nor a statement takes longer than this.

    Commands ask a sink several questions: a server that did not answer the first one is not waited
    for again by the next.
    """
    library = psycopg_here()
    if time.monotonic() - _silent_since.get(conninfo, -math.inf) < _SILENCE_SECONDS:
        raise library.errors.ConnectionTimeout("connection timeout expired")
    bounded = {"connect_timeout": seconds, "tcp_user_timeout": seconds * 1000}
    try:
        connection = connected(library.conninfo.make_conninfo(conninfo, **bounded))
    except library.errors.ConnectionTimeout:
        _silent_since[conninfo] = time.monotonic()
        raise
    try:
        connection.execute(f"set statement_timeout = {seconds * 1000}")
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_silent(address: PostgresAddress, seconds: int) -> None:
    """Raise HF5041 where the server does not answer in time; who opens the sink meets the rest."""
    library = psycopg_here(address.shown)
    try:
        connected_within(address.conninfo, seconds).close()
    except library.errors.ConnectionTimeout as error:
        message = f"the database can't be asked: {words_of(error)}"
        raise SinkError("HF5041", message, at=address.shown) from error
    except library.Error:
        return


def execute(
    connection: psycopg.Connection[Any],
    statement: str,
    *parts: Any,
    values: Sequence[Any] | Mapping[str, Any] = (),
) -> psycopg.Cursor[Any]:
    """Execute a statement whose `{}` are parts such as names, and whose `%s` are values.

    psycopg looks for placeholders in the whole text: a per cent sign in a part is doubled, so that
    it stays one of a name.
    """
    sql = psycopg_here().sql
    doubled = [sql.SQL(part.as_string(connection).replace("%", "%%")) for part in parts]
    return connection.execute(sql.SQL(statement).format(*doubled), values)


def words_of(error: psycopg.Error) -> str:
    """Return what PostgreSQL said in one line: no values of rows, no secrets."""
    primary = error.diag.message_primary
    text = _VALUE.sub("", primary) if primary else str(error).strip().partition("\n")[0]
    return excerpt(redact(text), _LONGEST)


def column_of(error: psycopg.Error) -> str | None:
    """Name the column that an error is about, where PostgreSQL tells."""
    if error.diag.column_name:
        return error.diag.column_name
    match = _COLUMN.search(error.diag.context or "")
    return match[1] if match else None


LONGEST_NAME = 63
"""PostgreSQL cuts off the bytes of a name beyond these, silently."""

_JDBC = "jdbc:postgresql:"
_PART = r'("(?:[^"]|"")+"|[^\W\d][\w$]*)'
_TABLE = re.compile(rf"(?:{_PART}\.)?{_PART}")
_TRANSLATED = {
    "applicationname": "application_name",
    "connecttimeout": "connect_timeout",
    "logintimeout": "connect_timeout",
    "currentschema": "options",
    "sslkey": "sslkey",
    "tcpkeepalive": "keepalives",
}
_OF_LIBPQ = frozenset(
    ("user", "password", "options", "sslmode", "sslrootcert", "sslcert", "sslpassword")
)
_ABOUT_SPEED = frozenset(
    ("rewritebatchedinserts", "preparethreshold", "defaultrowfetchsize", "stringtype")
)
"""Parameters of the Java driver that change nothing of what arrives here."""


@dataclass(frozen=True)
class PostgresAddress:
    """One table of one database."""

    conninfo: str = field(repr=False)
    """What libpq connects with; it may hold a password."""
    schema: str | None
    """None is the first one of the search path that exists."""
    table: str
    shown: str
    """Servers, database and table, without secrets."""


def postgres_address(
    url: str, table: str, options: Mapping[str, str], at: str | None
) -> PostgresAddress:
    """Return the address of a declared table; raise SinkError where it is none."""

    psycopg = psycopg_here(at)
    schema, name = _split_table(table, at)
    try:
        parameters = _of_jdbc(url, at) if url.startswith(_JDBC) else {}
        base = "" if parameters else url
        conninfo = psycopg.conninfo.make_conninfo(base, **{**parameters, **options})
        known = psycopg.conninfo.conninfo_to_dict(conninfo)
    except (psycopg.ProgrammingError, ValueError):
        # What libpq says of it may quote a part of the password.
        message = "PostgreSQL's client library rejects the url or an option"
        step = "write postgresql://user@host:5432/database, the password by reference"
        raise SinkError("HF5002", message, at=at, next_steps=(step,)) from None
    return PostgresAddress(conninfo, schema, name, redact(f"{_server(known)} {table}"))


def _server(known: Mapping[str, object]) -> str:
    hosts = str(known.get("host") or known.get("hostaddr") or "localhost")
    where = hosts if "port" not in known else f"{hosts}:{known['port']}"
    return f"postgresql://{where.lstrip('/')}/{known.get('dbname') or known.get('user') or ''}"


def _split_table(table: str, at: str | None) -> tuple[str | None, str]:
    """Return schema and name; as in SQL, only what is quoted keeps its capital letters."""
    match = _TABLE.fullmatch(table)
    if match is None:
        message = f"{table} is not a valid table name"
        step = 'write `table`, `schema.table`, or `schema."Any Name"`'
        raise SinkError("HF5002", message, at=at, next_steps=(step,))
    parts = [_unquoted(part) for part in match.groups() if part is not None]
    if any(len(part.encode()) > LONGEST_NAME for part in parts):
        message = f"{table} is longer than the {LONGEST_NAME} bytes that PostgreSQL supports"
        raise SinkError("HF5002", message, at=at)
    return (parts[0] if len(parts) == 2 else None), parts[-1]


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part.lower()


def _of_jdbc(url: str, at: str | None) -> dict[str, str]:
    rest = url[len(_JDBC) :]
    split = urlsplit(rest if rest.startswith("//") else f"///{rest.lstrip('/')}")
    found = {"dbname": unquote(split.path.lstrip("/"))}
    servers = [one.partition(":") for one in split.netloc.split(",") if one]
    if servers:
        found["host"] = ",".join(host for host, _, _ in servers)
        found["port"] = ",".join(port or "5432" for _, _, port in servers)
    else:
        found["host"] = "localhost"
    for name, value in parse_qsl(split.query, keep_blank_values=True):
        found.update(_parameter(name, value, at))
    return {name: value for name, value in found.items() if value}


def _parameter(name: str, value: str, at: str | None) -> dict[str, str]:
    """Translate one parameter of the Java driver."""
    lower = name.lower()
    if lower == "ssl":
        return {} if value.lower() == "false" else {"sslmode": "verify-full"}
    if lower == "currentschema":
        return {"options": f"-csearch_path={value}".replace(" ", "\\ ")}
    if lower == "tcpkeepalive":
        return {"keepalives": "1" if value.lower() == "true" else "0"}
    if lower in _ABOUT_SPEED:
        return {}
    if lower in _OF_LIBPQ or lower in _TRANSLATED:
        return {_TRANSLATED.get(lower, lower): value}
    message = f"the parameter {name} of the url is not supported"
    step = "leave it out, or write the url as postgresql://… with what libpq calls it"
    raise SinkError("HF5002", message, at=at, next_steps=(step,))
