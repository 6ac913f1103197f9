"""Where the parts of a statement's rows events wait until the statement ends.

The tool writes headings, base64 and commented rows of a statement one after the other, although they belong to the same
events. Every other event drops the headings that wait.
"""

from __future__ import annotations

from binspark.dump.mariadb.heading import base64_lines
from binspark.dump.mariadb.session import END
from binspark.dump.output import Output
from binspark.dump.text_buffer import TextBuffer

_BEGIN, _FINISH = b"\nBINLOG '\n", b"'" + END
_MAX_ENCODED = 0xFFFFFFFF // 4
_OVERHEAD = 4 + len(_BEGIN) + 1 + len(b"'%s\n") + 1


class StatementCaches:
    """What was printed of the rows events of a statement that has not ended yet."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.head: list[bytes] = []
        self._body = TextBuffer()
        self._body_size = 0
        self.tail = TextBuffer()

    def __bool__(self) -> bool:
        return bool(self.head or self._body or self.tail)

    def take(self, head: bytes, body: bytes, tail: bytes) -> None:
        """Add what was printed elsewhere: headings, base64, rows."""
        if head:
            self.head.append(head)
        self._body_size += len(body)
        self._body.write(body)
        self.tail.write(tail)

    def add_event(self, data: bytes) -> None:
        """Add an event to the BINLOG statement."""
        text = base64_lines(data)
        self._body_size += len(text)
        self._body.write(text)

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
        if wrapped:
            self._write_statement()
        else:
            self._body.flush_to(self._output)
        self._body_size = 0
        self.tail.flush_to(self._output)

    def give_up(self) -> None:
        """Write the headings and the events of a statement with a row that cannot be printed, as the tool does it."""
        self.flush_head()
        self._body.flush_to(self._output)

    def end_skipped(self, *, wrapped: bool) -> None:
        """Write everything at the end of a statement whose last event is not printed.

        Unless `wrapped`, events are written as the tool does it then, without the beginning of a BINLOG statement.
        """
        if self._body and not wrapped:
            self._body.write(_FINISH)
        self.flush(wrapped=wrapped and bool(self._body))

    def _write_statement(self) -> None:
        write, middle = self._output.write, self._body_size // 2 + 1
        if _OVERHEAD + self._body_size <= _MAX_ENCODED:
            write(_BEGIN)
            self._body.flush_to(self._output)
            write(_FINISH)
            return
        write(b"\nSET @binlog_fragment_0 ='\n")
        self._body.flush_to(_Inserting(self._output, middle, b"\n'%b\nSET @binlog_fragment_1 ='\n" % END[:-1]))
        write(_FINISH)
        write(b"BINLOG @binlog_fragment_0, @binlog_fragment_1%b" % END)


class _Inserting:
    """Writes to an output, with a text inserted after a number of bytes."""

    def __init__(self, output: Output, before: int, inserted: bytes) -> None:
        self._output = output
        self._before = before
        self._inserted = inserted

    def write(self, text: bytes) -> None:
        """Append bytes."""
        if self._inserted and len(text) >= self._before:
            self._output.write(text[: self._before] + self._inserted)
            text, self._inserted = text[self._before :], b""
        self._before -= len(text)
        self._output.write(text)
