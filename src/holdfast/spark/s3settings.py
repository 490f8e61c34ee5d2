"""Derives Spark's `fs.s3a.*` settings from `storage:`, so that nobody has to write them twice.

`storage/hadoop.py` goes the other way. What the user set for Spark itself is never overridden.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.storage.options import OptionValue, StorageSettings

_PREFIX = "spark.hadoop.fs.s3a."
_SETTINGS: Mapping[str, str] = {
    "key": "access.key",
    "secret": "secret.key",
    "token": "session.token",
    "endpoint": "endpoint",
    "region": "endpoint.region",
    "path_style": "path.style.access",
    "ssl": "connection.ssl.enabled",
    "requester_pays": "requester.pays.enabled",
}
_PROVIDER = f"{_PREFIX}aws.credentials.provider"
_ANONYMOUS = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
_TEMPORARY = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
_SIMPLE = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
_PROFILE = "org.apache.hadoop.fs.s3a.auth.ProfileAWSCredentialsProvider"
_S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"


def s3_settings(storage: StorageSettings) -> dict[str, str]:
    """Give the settings with which Spark reaches S3 as our readers do."""
    options = storage.for_scheme("s3")
    settings = {
        # Plain s3: is how most of the world writes it; Hadoop knows s3a: alone.
        "spark.hadoop.fs.s3.impl": _S3A,
        **{
            _PREFIX + theirs: _spelled(options[ours])
            for ours, theirs in _SETTINGS.items()
            if ours in options
        },
    }
    if provider := _provider(options):
        settings[_PROVIDER] = provider
    if "profile" in options:
        settings[f"{_PREFIX}auth.profile.name"] = _spelled(options["profile"])
    return settings


def _provider(options: Mapping[str, OptionValue]) -> str | None:
    """Name who gives the credentials, where `storage:` says it; else Hadoop asks its own chain."""
    if options.get("anonymous"):
        return _ANONYMOUS
    if "key" in options:
        return _TEMPORARY if "token" in options else _SIMPLE
    return _PROFILE if "profile" in options else None


def _spelled(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
