"""A bucket for logs of tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from binspark.files import Storage

ACCESS_KEY = "test-access-key"
SECRET_KEY = "test/secret+key"
REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of the store at an endpoint."""

    endpoint: str
    name: str

    @classmethod
    def create(cls, endpoint: str, name: str) -> Bucket:
        bucket = cls(endpoint, name)
        bucket.files(allow_bucket_creation=True).create_dir(name)
        return bucket

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        return {
            "endpoint_override": self.endpoint,
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
            "region": REGION,
        }

    @property
    def storage(self) -> Storage:
        return Storage.of(self.options)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables with which a command finds the server, as Amazon's own tools do."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def files(self, **options: bool) -> Any:
        from pyarrow.fs import S3FileSystem

        return S3FileSystem(**self.options, **options)

    def put(self, key: str, content: bytes) -> str:
        """Store an object and return its URI."""
        with self.files().open_output_stream(f"{self.name}/{key}") as file:
            file.write(content)
        return self.uri(key)

    def uri(self, key: str = "") -> str:
        return f"s3://{self.name}/{key}"
