"""Where the parts of a statement's rows events wait until the statement ends.

The tool writes headings, base64 and commented rows of a statement one after the other, although they belong to the same
events. Every other event drops the headings that wait.
"""

from __future__ import annotations

from binspark.dump.mariadb.heading import base64_lines
from binspark.dump.mariadb.session import END
from binspark.dump.output import Output

_BEGIN, _FINISH = b"\nBINLOG '\n", b"'" + END
_MAX_ENCODED = 0xFFFFFFFF // 4
_OVERHEAD = 4 + len(_BEGIN) + 1 + len(b"'%s\n") + 1


class StatementCaches:
    """What was printed of the rows events of a statement that has not ended yet."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.head: list[bytes] = []
        self._body: list[bytes] = []
        self.tail: list[bytes] = []

    def add_event(self, data: bytes) -> None:
        """Add an event to the BINLOG statement."""
        self._body.append(base64_lines(data))

    def write_alone(self, text: bytes) -> None:
        """Write an event that is not part of the statement; headings that wait are dropped."""
        self.head.clear()
        self._output.write(text)

    def flush_head(self) -> None:
        """Write the headings."""
        self._output.write(b"".join(self.head))
        self.head.clear()

    def flush(self, *, wrapped: bool) -> None:
        """Write everything; events as a BINLOG statement if `wrapped`."""
        self.flush_head()
        body, self._body = self._body, []
        if wrapped:
            self._write_statement(b"".join(body))
        else:
            self._output.write(b"".join(body))
        self._output.write(b"".join(self.tail))
        self.tail.clear()

    def end_skipped(self) -> None:
        """Write everything at the end of a statement whose last event is not printed."""
        if self._body:
            self._body.append(_FINISH)
        self.flush(wrapped=False)

    def _write_statement(self, body: bytes) -> None:
        if _OVERHEAD + len(body) <= _MAX_ENCODED:
            self._output.write(_BEGIN + body + _FINISH)
            return
        middle = len(body) // 2 + 1
        self._output.write(b"\nSET @binlog_fragment_0 ='\n%b\n'%b" % (body[:middle], END[:-1]))
        self._output.write(b"\nSET @binlog_fragment_1 ='\n%b%b" % (body[middle:], _FINISH))
        self._output.write(b"BINLOG @binlog_fragment_0, @binlog_fragment_1%b" % END)
