"""A mutable GTID set, to which transactions are added one at a time while a log is read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from binspark.gtid.gtid import Gtid
from binspark.gtid.gtid_set import GtidSet
from binspark.gtid.intervals import Interval, Intervals
from binspark.gtid.text import Source


class GtidSetBuilder:
    """Collects GTIDs in any order. `freeze` returns the set so far, and more may be added afterwards.

    Adding the number after the last interval takes constant time, the usual case; any other is found by bisection.
    """

    __slots__ = ("_growing",)

    def __init__(self, start: GtidSet | None = None) -> None:
        parts = start.parts if start is not None else ()
        self._growing: dict[Source, _GrowingIntervals] = {
            source: _GrowingIntervals(intervals) for source, intervals in parts
        }

    def add(self, gtid: Gtid) -> None:
        """Add one GTID; adding it again changes nothing."""
        growing = self._growing.get(gtid.source)
        if growing is None:
            growing = self._growing[gtid.source] = _GrowingIntervals(())
        growing.add(gtid.number)

    def add_interval(self, source: Source, interval: Interval) -> None:
        """Add consecutive numbers of one source."""
        growing = self._growing.get(source)
        if growing is None:
            growing = self._growing[source] = _GrowingIntervals(())
        growing.add_interval(*interval)

    def overlaps(self, source: Source, interval: Interval) -> bool:
        """Return whether any number of an interval was added."""
        growing = self._growing.get(source)
        return growing is not None and growing.overlaps(*interval)

    def __contains__(self, gtid: Gtid) -> bool:
        """Return whether a GTID was added."""
        growing = self._growing.get(gtid.source)
        return growing is not None and growing.contains(gtid.number)

    def freeze(self) -> GtidSet:
        """Return the set of all GTIDs that were added."""
        return GtidSet.from_parts((source, growing.freeze()) for source, growing in self._growing.items())


class _GrowingIntervals:
    """Intervals as two sorted lists: where each starts, and where it stops (exclusive)."""

    __slots__ = ("starts", "stops")

    def __init__(self, intervals: Intervals) -> None:
        self.starts = [start for start, _ in intervals]
        self.stops = [stop for _, stop in intervals]

    def add(self, number: int) -> None:
        if self.stops and self.stops[-1] == number:
            self.stops[-1] = number + 1
            return
        following = bisect_right(self.starts, number)
        stop_before = self.stops[following - 1] if following else 0
        if number < stop_before:
            return
        touches_following = following < len(self.starts) and self.starts[following] == number + 1
        if number == stop_before and touches_following:
            self.stops[following - 1] = self.stops.pop(following)
            del self.starts[following]
        elif number == stop_before:
            self.stops[following - 1] = number + 1
        elif touches_following:
            self.starts[following] = number
        else:
            self.starts.insert(following, number)
            self.stops.insert(following, number + 1)

    def add_interval(self, start: int, stop: int) -> None:
        if self.stops and self.stops[-1] == start:
            self.stops[-1] = stop
            return
        first = bisect_left(self.stops, start)  # the intervals from `first` to `last` touch this one
        last = bisect_right(self.starts, stop)
        if first < last:
            start, stop = min(start, self.starts[first]), max(stop, self.stops[last - 1])
        self.starts[first:last] = [start]
        self.stops[first:last] = [stop]

    def overlaps(self, start: int, stop: int) -> bool:
        following = bisect_left(self.starts, stop)
        return following > 0 and start < self.stops[following - 1]

    def contains(self, number: int) -> bool:
        following = bisect_right(self.starts, number)
        return following > 0 and number < self.stops[following - 1]

    def freeze(self) -> Intervals:
        return tuple(zip(self.starts, self.stops, strict=True))
