"""Understands Spark's own `fs.s3a.*` settings, so that nobody has to write them twice."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.storage.location import Location
from holdfast.storage.options import OptionValue, StorageSettings

_PREFIXES = ("spark.hadoop.fs.s3a.", "fs.s3a.")
_BUCKET = "bucket."

_OPTIONS: Mapping[str, str] = {
    "access.key": "key",
    "secret.key": "secret",
    "session.token": "token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
    "path.style.access": "path_style",
    "connection.ssl.enabled": "ssl",
    "requester.pays.enabled": "requester_pays",
}
_PROVIDER = "aws.credentials.provider"


def settings_from_spark(conf: Mapping[str, str], location: Location) -> StorageSettings:
    """Give the storage settings that Spark itself would use for this location."""
    if location.scheme != "s3":
        return StorageSettings()
    bucket = location.url.removeprefix("s3://").partition("/")[0]
    general = {name: value for name, value in _s3a(conf) if not name.startswith(_BUCKET)}
    own_prefix = f"{_BUCKET}{bucket}."
    own = {
        name.removeprefix(own_prefix): value
        for name, value in _s3a(conf)
        if name.startswith(own_prefix)
    }
    options = _options({**general, **own})
    return StorageSettings({"s3": options} if options else {})


def _s3a(conf: Mapping[str, str]) -> list[tuple[str, str]]:
    """Give the fs.s3a settings without their prefix; Spark's spelling counts after Hadoop's."""
    return [
        (name.removeprefix(prefix), value.strip())
        for prefix in reversed(_PREFIXES)
        for name, value in conf.items()
        if name.startswith(prefix) and value.strip()
    ]


def _options(settings: Mapping[str, str]) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {
        ours: settings[theirs] for theirs, ours in _OPTIONS.items() if theirs in settings
    }
    if "AnonymousAWSCredentialsProvider" in settings.get(_PROVIDER, ""):
        options["anonymous"] = True
    return options
