"""The worked examples in `examples/bytes`: they are what their script writes, and open in the explorer."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.support.explore.served import serving

EXAMPLES = Path(__file__).parents[2] / "examples"
ROW = re.compile(r"\| (?P<type>\w+) \| `#(?P<address>\S+)` \| `(?P<field>\S+)` \| .+ \|")


def test_the_script_writes_the_examples(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "worked_bytes.py", tmp_path], check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in (EXAMPLES / "bytes").iterdir())
    for name in names:
        assert (tmp_path / name).read_bytes() == (EXAMPLES / "bytes" / name).read_bytes()


def test_each_address_leads_to_its_event_and_field() -> None:
    rows = [match for line in (EXAMPLES / "bytes" / "README.md").read_text().splitlines() if (match := ROW.match(line))]
    assert len(rows) > 20
    with serving(EXAMPLES / "bytes") as page:
        names = [each["name"] for each in page.ask("logs")["logs"]]
        for row in rows:
            address = {name: values[0] for name, values in parse_qs(row["address"]).items()}
            event = page.ask("event", log=names.index(address["log"]), pos=address["pos"])
            assert event["type"] == row["type"]
            assert event["fields"][int(address["field"])]["field"] == row["field"]


@pytest.mark.parametrize("name", ["binlog.000001", "binlog.000002"])
def test_the_examples_are_sound(name: str) -> None:
    command = [sys.executable, "-m", "binspark", "verify", str(EXAMPLES / "bytes" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
