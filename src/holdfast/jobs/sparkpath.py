"""Spells a place as Spark wants it: s3a, gs, abfss; a local one as a plain absolute path."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import StorageError
from holdfast.storage.location import Location, parse_location
from holdfast.storage.options import StorageSettings

_AZURE_HOST = "dfs.core.windows.net"
_WITHOUT_TLS = frozenset({"abfs", "wasb"})


def spark_path(location: Location, settings: StorageSettings | None = None) -> str:
    """Give the path or URL that Spark is to read or write; `settings` know Azure's account."""
    if location.scheme == "s3":
        return "s3a" + location.url.removeprefix("s3")
    if location.scheme == "abfs":
        return _azure(location, settings or StorageSettings())
    return location.url


def place_or_text(text: str, folder: Path) -> Location | str:
    """Understand a path; one that only Spark can reach stays as it is written."""
    try:
        return parse_location(text, relative_to=folder)
    except StorageError:
        return text


def _azure(location: Location, settings: StorageSettings) -> str:
    """Give Hadoop's form, which names the account: `abfss://container@account…/path`."""
    written = location.text.partition(":")[0].lower()
    scheme = "abfs" if written in _WITHOUT_TLS else "abfss"
    host, slash, path = location.url.removeprefix("abfs://").partition("/")
    if "@" not in host:
        account = settings.for_scheme("abfs").get("account")
        if account is None:
            message = "this location names no storage account, and Spark needs one"
            step = "write abfss://<container>@<account>.dfs.core.windows.net/<path>"
            raise StorageError("HF7005", message, at=location.shown, next_steps=(step,))
        host = f"{host}@{account}.{_AZURE_HOST}"
    return f"{scheme}://{host}{slash}{path}"
