"""Which tool's text a log is dumped as."""

from __future__ import annotations

import pytest

from binspark.dump.output import BufferedOutput
from binspark.dump.run import dump_logs, family_of_log
from binspark.dump.settings import DumpSettings
from binspark.errors import OptionError
from binspark.files.sources import LogSource
from binspark.frames.format import Family
from tests.corpus.cases import case_logs

MYSQL = LogSource(str(case_logs("mysql/types")[0]))
MARIADB = LogSource(str(case_logs("mariadb/types")[0]))


def test_the_first_event_tells_the_family() -> None:
    assert [family_of_log(log) for log in (MYSQL, MARIADB)] == [Family.MYSQL, Family.MARIADB]


def test_logs_of_both_families_are_not_dumped_together() -> None:
    output = BufferedOutput(lambda _texts: None)
    with pytest.raises(OptionError, match="dump the logs of each family on their own"):
        dump_logs([MYSQL, MARIADB], DumpSettings(), output, print)
