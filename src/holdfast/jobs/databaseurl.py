"""Gives one text for one table of a database, however its URL is written, and without secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

_POSTGRES = re.compile(r"(?:jdbc:)?postgres(?:ql)?:(?://)?", re.IGNORECASE)
_POSTGRES_PORT = "5432"
_USER_INFO = re.compile(r"//[^/@]*@")


def table_identity(url: str, table: str) -> str:
    """Name the table so that every other spelling of it gives the same text."""
    if "${" in url:
        # What is filled in later is equal where the text is; nothing more can be said here.
        return f"table:{url} {_table(table)}"
    if _POSTGRES.match(url):
        return f"table:{_postgres(url)} {_table(table).removeprefix('public.')}"
    bare = re.split(r"[?;]", _USER_INFO.sub("//", url), maxsplit=1)[0]
    return f"table:{bare.lower().rstrip('/')} {_table(table)}"


def _postgres(url: str) -> str:
    """Give servers and database; who asks, and how, makes no other table."""
    rest = _POSTGRES.sub("", url, count=1)
    split = urlsplit(f"//{rest.rpartition('@')[2] if '@' in rest.partition('?')[0] else rest}")
    query = {key: values[-1] for key, values in parse_qs(split.query).items()}
    hosts = query.get("host") or split.netloc or "localhost"
    port = query.get("port", _POSTGRES_PORT)
    servers = sorted(one if ":" in one else f"{one}:{port}" for one in hosts.lower().split(","))
    database = query.get("dbname") or unquote(split.path.strip("/"))
    return f"postgresql://{','.join(servers)}/{database}"


def _table(table: str) -> str:
    return table.replace('"', "").replace("`", "").lower()
