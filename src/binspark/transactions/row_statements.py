"""The statements that changed the rows of transactions, where the log has them."""

from __future__ import annotations

from binspark.event import AnnotateRows, Event, RowsQuery
from binspark.event.context import SqlText
from binspark.transactions.assembler import DEFAULT_TEXT_LIMIT


class RowStatements:
    """Collects ROWS_QUERY and ANNOTATE_ROWS while events are read: `Assembler(watcher=statements.watch)`.

    `text_limit` is how many bytes of statements are kept for a transaction.
    """

    def __init__(self, text_limit: int = DEFAULT_TEXT_LIMIT) -> None:
        self._text_limit = text_limit
        self._texts: dict[int, list[SqlText]] = {}

    def watch(self, transaction: int, event: Event) -> None:
        """Take an event of a transaction."""
        if isinstance(event.body, RowsQuery | AnnotateRows):
            texts = self._texts.setdefault(transaction, [])
            left = self._text_limit - sum(map(len, texts))
            if left > 0:
                texts.append(event.body.query[:left])

    def take(self, transaction: int) -> tuple[SqlText, ...]:
        """Return the statements of a transaction, and forget them."""
        return tuple(self._texts.pop(transaction, ()))
