"""Opens the fsspec file system of a remote location; readers get it guarded.

The table names what may pass, not what may not: a method that a later fsspec adds is refused until
somebody has looked at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit

from holdfast.errors import StorageError
from holdfast.redaction import redact
from holdfast.storage.errors import border
from holdfast.storage.location import Location
from holdfast.storage.options import FAMILIES, OptionValue, StorageSettings
from holdfast.wording import pip_line

CONNECTIONS = 32
"""How many reads may be under way at once."""

_S3_NAMES: Mapping[str, str] = {
    "key": "key",
    "secret": "secret",
    "token": "token",
    "profile": "profile",
    "anonymous": "anon",
    "requester_pays": "requester_pays",
    "ssl": "use_ssl",
}
_WEBHDFS_PORT = 9870
_AZURE_PUBLIC = ".dfs.core.windows.net"


@dataclass(frozen=True)
class Implementation:
    """An fsspec protocol, what to call it with, and the root in its own spelling."""

    protocol: str
    arguments: Mapping[str, Any] = field(repr=False)
    root: str = ""


def implementation_for(location: Location, options: Mapping[str, OptionValue]) -> Implementation:
    """Choose the implementation that reads a remote location, with all that it needs."""
    host, slash, path = location.url.partition("://")[2].partition("/")
    path = slash + path
    if location.scheme == "s3":
        return Implementation("s3", _s3_arguments(options), host + path)
    if location.scheme == "gs":
        return Implementation("gs", _gcs_arguments(options), host + path)
    if location.scheme == "abfs":
        container, _, account_host = host.partition("@")
        return Implementation("abfs", _azure_arguments(options, account_host), container + path)
    if location.scheme in ("hdfs", "webhdfs"):
        return _hdfs(location, options, host, path)
    if location.scheme == "memory":
        return Implementation("memory", {}, path)
    return Implementation(location.scheme, dict(options), location.url)


def _named(options: Mapping[str, OptionValue], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that are set, under the implementation's names."""
    return {theirs: options[ours] for ours, theirs in names.items() if ours in options}


def _s3_arguments(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    client = _named(options, {"region": "region_name"})
    if "endpoint" in options:
        client["endpoint_url"] = _with_protocol(str(options["endpoint"]), options.get("ssl", True))
    # Retrying is ours (retrying.py); one repetition of a single request spares a whole listing.
    config: dict[str, Any] = {
        "max_pool_connections": CONNECTIONS,
        "retries": {"mode": "standard", "total_max_attempts": 2},
    }
    if "path_style" in options:
        config["s3"] = {"addressing_style": "path" if options["path_style"] else "virtual"}
    return {
        **_named(options, _S3_NAMES),
        "client_kwargs": client,
        "config_kwargs": config,
        # With more than one part at a time s3fs asks for the size of each file before it reads it.
        "max_concurrency": 1,
    }


def _with_protocol(endpoint: str, ssl: OptionValue) -> str:
    """Hadoop takes an endpoint without http://; botocore does not."""
    return endpoint if "://" in endpoint else f"{'https' if ssl else 'http'}://{endpoint}"


def _gcs_arguments(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    arguments = _named(
        options,
        {
            "credentials": "token",
            "token": "token",
            "project": "project",
            "endpoint": "endpoint_url",
            "requester_pays": "requester_pays",
        },
    )
    if options.get("anonymous"):
        arguments["token"] = "anon"
    return {**arguments, "access": "read_only"}


def _azure_arguments(options: Mapping[str, OptionValue], host: str) -> dict[str, Any]:
    names = {
        "account": "account_name",
        "endpoint": "account_host",
        "key": "account_key",
        "sas_token": "sas_token",
        "connection_string": "connection_string",
        "tenant_id": "tenant_id",
        "client_id": "client_id",
        "client_secret": "client_secret",
    }
    arguments = _named(options, names)
    if host:
        arguments["account_name"] = host.partition(".")[0]
        if not host.endswith(_AZURE_PUBLIC) and "." in host and "endpoint" not in options:
            arguments["account_host"] = host.replace(".dfs.", ".blob.", 1)
    # Without this, adlfs would ask anonymously where the machine has an identity of its own.
    return {**arguments, "anon": options.get("anonymous", False)}


def _hdfs(
    location: Location, options: Mapping[str, OptionValue], host: str, path: str
) -> Implementation:
    user, _, address = host.rpartition("@")
    if user and "user" not in options:
        options = {**options, "user": user.partition(":")[0]}
    if "webhdfs" in options:
        return Implementation("webhdfs", _webhdfs_arguments(str(options["webhdfs"]), options), path)
    if location.scheme == "webhdfs":
        secure = location.url.startswith("swebhdfs:")
        url = f"{'https' if secure else 'http'}://{address}"
        return Implementation("webhdfs", _webhdfs_arguments(url, options), path)
    name, _, port = address.partition(":")
    arguments: dict[str, Any] = _named(options, {"user": "user", "ticket": "kerb_ticket"})
    arguments["host"] = name or "default"
    if port:
        arguments["port"] = _port(port, location.shown)
    return Implementation("hdfs", arguments, path or "/")


def _webhdfs_arguments(url: str, options: Mapping[str, OptionValue]) -> dict[str, Any]:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    host, _, port = parts.netloc.rpartition("@")[2].partition(":")
    if parts.scheme not in ("http", "https") or not host:
        raise StorageError(
            "HF7010", "hdfs option webhdfs must be a URL such as http://namenode:9870"
        )
    names = {"user": "user", "password": "password", "token": "token", "kerberos": "kerberos"}
    return {
        **_named(options, names),
        "host": host,
        "port": _port(port, "the hdfs option webhdfs") if port else _WEBHDFS_PORT,
        "use_https": parts.scheme == "https",
    }


def _port(text: str, where: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise StorageError("HF7005", "its port is not a number below 65536", at=where)
    return int(text)


READING_METHODS = frozenset({"cat_file", "exists", "find", "info", "isdir", "isfile", "ls", "size"})
"""Methods of fsspec that only read, and that keep nothing on this disk."""

READING_MODES = frozenset({"rb"})


class ReadOnlyFilesystem:
    """An fsspec file system that can't write, create, move, remove or mark anything."""

    __slots__ = ("_filesystem",)

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in READING_METHODS:
            method: Callable[..., Any] = getattr(self._filesystem, name)
            return method
        return _refusal_of(name)

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file for reading; any other mode is refused."""
        if mode not in READING_MODES:
            _refusal_of(f"open in mode {mode}")()
        return self._filesystem.open(path, mode, **options)


def _refusal_of(name: str) -> Callable[..., Any]:
    def refused(*_: object, **__: object) -> NoReturn:
        raise StorageError("HF7009", f"reading tried to call {name} of the file system")

    return refused


_WEBHDFS_ADVICE = (
    "read it through WebHDFS, which needs no Java: --storage-option webhdfs=http://namenode:9870, "
    "or storage: hdfs: {webhdfs: …} in holdfast.yaml"
)


Instances = dict[str, Any]
"""File systems that are open already, by everything that they were made with."""


def open_filesystem(
    location: Location, settings: StorageSettings, instances: Instances | None = None
) -> tuple[ReadOnlyFilesystem, str]:
    """Return the guarded file system and the root in its own spelling.

    Whoever opens many places of one storage keeps the `instances`: making one takes longer than
    several questions to it.
    """
    filesystem, root = open_bare_filesystem(location, settings, instances)
    return ReadOnlyFilesystem(filesystem), root


def open_bare_filesystem(
    location: Location, settings: StorageSettings, instances: Instances | None = None
) -> tuple[Any, str]:
    """Return the file system as it is, which can write, and the root in its own spelling."""
    implementation = implementation_for(location, settings.for_scheme(location.scheme))
    kind = _class_of(implementation, location)
    root = implementation.root
    if location.scheme == implementation.root.partition("://")[0]:
        root = kind._strip_protocol(implementation.root)
    from_url = {} if location.scheme in FAMILIES else kind._get_kwargs_from_urls(location.url)
    return _instance(kind, implementation, location, from_url, instances), root


def _class_of(implementation: Implementation, location: Location) -> Any:
    from fsspec import get_filesystem_class

    try:
        return get_filesystem_class(implementation.protocol)
    except ImportError as error:
        family = FAMILIES.get(location.scheme)
        wanted = pip_line(family) if family else str(error)
        message = f"reading {location.scheme}: requires a package that is not installed"
        steps = (wanted,)
        raise StorageError("HF7004", message, at=location.shown, next_steps=steps) from error


def _instance(
    kind: Any,
    implementation: Implementation,
    location: Location,
    from_url: dict[str, Any],
    instances: Instances | None,
) -> Any:
    """Make the file system; `from_url` is what the URL itself says, such as the host of ftp:."""
    # Nothing is cached: neither a listing, which would be old at the second look, nor the
    # instance, which would keep credentials and connections in a table of fsspec's.
    arguments = {**from_url, **implementation.arguments, "skip_instance_cache": True}
    if implementation.protocol not in ("hdfs", "memory"):
        arguments["use_listings_cache"] = False
    made_with = repr((implementation.protocol, sorted(arguments.items())))
    if instances is not None and made_with in instances:
        return instances[made_with]
    filesystem = _made_or_advised(kind, implementation, location, arguments)
    if implementation.protocol == "s3":
        filesystem.retries = 1
    if instances is not None:
        instances[made_with] = filesystem
    return filesystem


def _made_or_advised(
    kind: Any, implementation: Implementation, location: Location, arguments: dict[str, Any]
) -> Any:
    try:
        with border(location.shown):
            return _made(kind, arguments)
    except StorageError as error:
        if implementation.protocol == "hdfs":
            message = (
                f"HDFS's own protocol requires Hadoop's native library and Java: {error.message}"
            )
            steps = (_WEBHDFS_ADVICE,)
            raise StorageError("HF7004", message, at=location.shown, next_steps=steps) from error
        raise


def _made(kind: Any, arguments: dict[str, Any]) -> Any:
    try:
        return kind(**arguments)
    except (TypeError, ValueError, KeyError) as error:
        message = f"the storage options cannot be combined: {redact(str(error))}"
        raise StorageError("HF7010", message) from error
