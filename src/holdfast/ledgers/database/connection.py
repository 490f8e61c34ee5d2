"""Connects to PostgreSQL, and tells its errors without values of rows and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
    """Give the module psycopg; raise HF5040 where it can't be imported."""
    try:
        import psycopg
        import psycopg.conninfo
        import psycopg.errors
        import psycopg.sql
    except ImportError as error:
        raise SinkError("HF5040", f"psycopg can't be imported: {error}", at=at) from error
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
    """Give what PostgreSQL said in one line: no values of rows, no secrets."""
    primary = error.diag.message_primary
    text = _VALUE.sub("", primary) if primary else str(error).strip().partition("\n")[0]
    return excerpt(redact(text), _LONGEST)


def column_of(error: psycopg.Error) -> str | None:
    """Name the column that an error is about, where PostgreSQL tells."""
    if error.diag.column_name:
        return error.diag.column_name
    match = _COLUMN.search(error.diag.context or "")
    return match[1] if match else None
