"""Opens the fsspec file system of a remote location; readers get it guarded."""

from __future__ import annotations

from typing import Any

from holdfast.errors import StorageError
from holdfast.installing import pip_line
from holdfast.redaction import redact
from holdfast.storage.border import border
from holdfast.storage.location import Location
from holdfast.storage.options import FAMILIES, StorageSettings
from holdfast.storage.readonly import ReadOnlyFilesystem
from holdfast.storage.translation import Implementation, implementation_for

_WEBHDFS_ADVICE = (
    "read it through WebHDFS, which needs no Java: --storage-option webhdfs=http://namenode:9870, "
    "or storage: hdfs: {webhdfs: …} in holdfast.yaml"
)


Instances = dict[str, Any]
"""File systems that are open already, by everything that they were made with."""


def open_filesystem(
    location: Location, settings: StorageSettings, instances: Instances | None = None
) -> tuple[ReadOnlyFilesystem, str]:
    """Give the guarded file system and the root in its own spelling.

    Whoever opens many places of one storage keeps the `instances`: making one takes longer than
    several questions to it.
    """
    filesystem, root = open_bare_filesystem(location, settings, instances)
    return ReadOnlyFilesystem(filesystem), root


def open_bare_filesystem(
    location: Location, settings: StorageSettings, instances: Instances | None = None
) -> tuple[Any, str]:
    """Give the file system as it is, which can write, and the root in its own spelling."""
    implementation = implementation_for(location, settings.for_scheme(location.scheme))
    kind = _class_of(implementation, location)
    root = implementation.root
    if location.scheme == implementation.root.partition("://")[0]:
        root = kind._strip_protocol(implementation.root)
    told = {} if location.scheme in FAMILIES else kind._get_kwargs_from_urls(location.url)
    return _instance(kind, implementation, location, told, instances), root


def _class_of(implementation: Implementation, location: Location) -> Any:
    from fsspec import get_filesystem_class

    try:
        return get_filesystem_class(implementation.protocol)
    except ImportError as error:
        family = FAMILIES.get(location.scheme)
        wanted = pip_line(family) if family else str(error)
        message = f"reading {location.scheme}: needs a package that is not installed"
        steps = (wanted,)
        raise StorageError("HF7004", message, at=location.shown, next_steps=steps) from error


def _instance(
    kind: Any,
    implementation: Implementation,
    location: Location,
    told: dict[str, Any],
    instances: Instances | None,
) -> Any:
    """Make the file system; `told` is what the URL itself says, such as the host of ftp:."""
    # Nothing is cached: neither a listing, which would be old at the second look, nor the
    # instance, which would keep credentials and connections in a table of fsspec's.
    arguments = {**told, **implementation.arguments, "skip_instance_cache": True}
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
            message = f"HDFS's own protocol needs Hadoop's native library and Java: {error.message}"
            steps = (_WEBHDFS_ADVICE,)
            raise StorageError("HF7004", message, at=location.shown, next_steps=steps) from error
        raise


def _made(kind: Any, arguments: dict[str, Any]) -> Any:
    try:
        return kind(**arguments)
    except (TypeError, ValueError, KeyError) as error:
        message = f"the storage options don't go together: {redact(str(error))}"
        raise StorageError("HF7010", message) from error
