"""An S3 server on this machine that remembers every request, so that tests can count them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import botocore.loaders
import botocore.session
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

# Every client would read a megabyte about AWS again, which takes longer than what it is asked for.
botocore.session.create_loader = cache(botocore.loaders.create_loader)

KEY, SECRET = "AKIAEXAMPLEKEYFORTEST", "test-secret-that-is-long-enough-to-see"


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_: object, **__: object) -> None:
        """Say nothing: the tests ask `requests`."""


@dataclass
class S3Server:
    """A running server; `requests` holds method, path and query of each request in order."""

    requests: list[tuple[str, str, str]] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    """HTTP statuses that the next requests are answered with, whatever they ask."""

    def __post_init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(
            "127.0.0.1", 0, self._answer, threaded=True, request_handler=_Quiet
        )
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._lock = threading.Lock()
        self.client = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        request = (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"])
        with self._lock:
            self.requests.append(request)
            status = self.failing.pop(0) if self.failing else None
        if status is not None:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start(f"{status} Ordered", [("Content-Length", "0")])
            return [b""]
        answer: Iterable[bytes] = self._moto(environ, start)
        return answer

    def fill(self, bucket: str, files: Mapping[str, bytes]) -> None:
        """Create a bucket that holds exactly these keys, and forget the requests for it."""
        self.client.create_bucket(Bucket=bucket)
        for key, content in files.items():
            self.client.put_object(Bucket=bucket, Key=key, Body=content)
        self.requests.clear()

    def settings(self, **options: str | bool) -> StorageSettings:
        """Settings that reach this server."""
        given = {"endpoint": self.endpoint, "key": KEY, "secret": SECRET, "region": "us-east-1"}
        return StorageSettings({"s3": {**given, "path_style": True, **options}})

    def reader(self, url: str) -> Reader:
        """Open a place of this server as a user would."""
        return open_reader(parse_location(url), self.settings())

    def keys_and_versions(self, bucket: str) -> dict[str, tuple[str, str]]:
        """Every key with its ETag and time, to be compared before and after."""
        contents = self.client.list_objects_v2(Bucket=bucket).get("Contents", [])
        return {item["Key"]: (item["ETag"], str(item["LastModified"])) for item in contents}

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
