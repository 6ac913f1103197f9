"""`python -m benchmarks.json_kernel`: binary JSON into text, by the kernel, the reference, and Python's `json.dumps`.

Prints, for each kind of document, megabytes of binary JSON per second (best of several repeats) and the kernel's time
per document. `json.dumps` starts from Python objects: it does not decode.
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.timing import best_seconds
from binspark.kernels import cache
from binspark.kernels.compiler import callback_address, kernel
from binspark.kernels.json.document import write_json
from binspark.kernels.memory import call_writer
from binspark.values.json.binary import json_text
from tests.support.values.json_encoding import encode_json

CAPACITY = 1 << 20


@kernel
def write_all(writer: int, target: int, source: int, ends: npt.NDArray[np.int64]) -> int:
    """Write consecutive documents; return the size of their text."""
    total, start = 0, 0
    for end in ends:
        written: int = call_writer(writer, target, CAPACITY, source + start, end - start)
        if written < 0:
            return written
        total += written
        start = end
    return total


def order(chance: random.Random) -> dict[str, Any]:
    return {
        "id": chance.randrange(1 << 31),
        "customer": f"customer {chance.randrange(10**6)}",
        "price": round(chance.uniform(1, 999), 2),
        "tags": ["new", "blue"],
        "address": {"city": "Köln", "zip": "50667", "street": "Hauptstraße 12"},
        "paid": True,
        "note": None,
        "count": chance.randrange(40_000),
    }


def documents() -> dict[str, list[Any]]:
    """Return documents of several kinds."""
    chance = random.Random(1)
    return {
        "small objects": [order(chance) for _ in range(5000)],
        "integers": [[chance.randrange(-(1 << 31), 1 << 31) for _ in range(5000)] for _ in range(20)],
        "doubles of 17 digits": [[chance.random() for _ in range(5000)] for _ in range(20)],
        "doubles of 2 decimals": [[round(chance.uniform(0, 1000), 2) for _ in range(5000)] for _ in range(20)],
        "long ASCII texts": [["lorem ipsum dolor sit amet,\nconsectetur " * 200] for _ in range(200)],
        "long Cyrillic texts": [["Быстрая коричневая лиса " * 300] for _ in range(200)],
    }


def measure(kind: str, values: list[Any]) -> None:
    """Print one line of figures."""
    encoded = [encode_json(value) for value in values]
    source = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    ends = np.cumsum([len(document) for document in encoded])
    target = np.zeros(CAPACITY, dtype=np.uint8)
    addresses = (callback_address(write_json), target.ctypes.data, source.ctypes.data)
    expected = sum(len(json_text(document).encode()) for document in encoded)
    assert write_all(*addresses, ends) == expected
    compiled = best_seconds(lambda: write_all(*addresses, ends), 9)
    reference = best_seconds(lambda: [json_text(document) for document in encoded], 2)
    dumps = best_seconds(lambda: [json.dumps(value, ensure_ascii=False) for value in values], 3)
    rates = "".join(f"{len(source) / 1e6 / seconds:12.1f}" for seconds in (compiled, reference, dumps))
    print(f"{kind:24}{len(source) // len(values):10}{rates}{compiled / len(values) * 1e9:14.0f}")


def main() -> None:
    cache.enable()
    print(
        f"{'documents':24}{'bytes each':>10}{'kernel MB/s':>12}{'reference':>12}{'json.dumps':>12}{'ns/document':>14}"
    )
    for kind, values in documents().items():
        measure(kind, values)


if __name__ == "__main__":
    main()
