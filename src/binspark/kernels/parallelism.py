"""How much of a log a replica could apply at the same time, by MySQL's logical clock, as `transactions.parallelism`.

A clock of transactions has three arrays of int64: its numbers (`Clock`), the steps of the two running maxima (`Steps`),
and the moments at which most transactions may run (`Moments`).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.list_layout import NULL


class Clock(IntEnum):
    """What is known of the transactions so far."""

    LAST_SEQUENCE = 0
    LARGEST_GROUP = 1
    LARGEST = 2  # the same since the sequence numbers restarted
    MOMENTS = 3  # how many moments there are, with those that cannot win any more
    HISTORY = 4  # how many steps are kept at least
    DEPTH = 5  # two numbers of a running maximum: see `Maximum`
    WEIGHT = 7
    WIDTH = 9


class Maximum(IntEnum):
    """The numbers of a running maximum."""

    FLOOR = 0
    STEPS = 1


class Steps(IntEnum):
    """The rows of the array of steps: the sequence number and the value of each, for both running maxima."""

    DEPTH = 0
    WEIGHT = 2
    COUNT = 4


class Moments(IntEnum):
    """The rows of the array of moments.

    A moment whose DROP is 0 cannot win any more. Its BEFORE leads to one before it that can, or to -1.
    """

    NUMBER = 0
    DROP = 1
    BEFORE = 2
    COUNT = 3


@kernel
def measure_clocks(
    clock: np.ndarray,
    steps: np.ndarray,
    moments: np.ndarray,
    last_committed: np.ndarray,
    sequence_numbers: np.ndarray,
    sizes: np.ndarray,
    first: int,
) -> int:
    """Take transactions from the number `first` on; return the number of the first that there is no room for."""
    for index in range(first, len(sizes)):
        if clock[Clock.MOMENTS] == moments.shape[1]:
            return index
        last, sequence, size = last_committed[index], sequence_numbers[index], sizes[index]
        if last == NULL or sequence <= 0:
            wait_for_all(clock, steps)
            add_transaction(clock, steps, moments, 0, 1, size)
            wait_for_all(clock, steps)
            continue
        if sequence <= clock[Clock.LAST_SEQUENCE]:
            wait_for_all(clock, steps)
        add_transaction(clock, steps, moments, max(0, min(last, sequence - 1)), sequence, size)
    return len(sizes)


@kernel
def wait_for_all(clock: np.ndarray, steps: np.ndarray) -> None:
    """End all transactions before the next one begins."""
    clock[Clock.DEPTH + Maximum.FLOOR] = largest_value(clock, steps, Clock.DEPTH, Steps.DEPTH)
    clock[Clock.WEIGHT + Maximum.FLOOR] = largest_value(clock, steps, Clock.WEIGHT, Steps.WEIGHT)
    clock[Clock.DEPTH + Maximum.STEPS] = clock[Clock.WEIGHT + Maximum.STEPS] = 0
    clock[Clock.MOMENTS] = clock[Clock.LARGEST] = clock[Clock.LAST_SEQUENCE] = 0


@kernel
def add_transaction(
    clock: np.ndarray, steps: np.ndarray, moments: np.ndarray, last_committed: int, sequence: int, size: int
) -> None:
    """Add a transaction after those that it waits for."""
    depth = value_up_to(clock, steps, Clock.DEPTH, Steps.DEPTH, last_committed) + 1
    add_value(clock, steps, Clock.DEPTH, Steps.DEPTH, sequence, depth)
    weight = value_up_to(clock, steps, Clock.WEIGHT, Steps.WEIGHT, last_committed) + size
    add_value(clock, steps, Clock.WEIGHT, Steps.WEIGHT, sequence, weight)
    add_overlap(clock, moments, last_committed, sequence)
    clock[Clock.LARGEST_GROUP] = max(clock[Clock.LARGEST_GROUP], clock[Clock.LARGEST])
    clock[Clock.LAST_SEQUENCE] = sequence


@kernel
def largest_value(clock: np.ndarray, steps: np.ndarray, maximum: int, row: int) -> int:
    """Return the largest value so far."""
    count = clock[maximum + Maximum.STEPS]
    return steps[row + 1, count - 1] if count else clock[maximum + Maximum.FLOOR]


@kernel
def value_up_to(clock: np.ndarray, steps: np.ndarray, maximum: int, row: int, number: int) -> int:
    """Return the largest value of all up to a sequence number."""
    step = last_not_after(steps, row, clock[maximum + Maximum.STEPS], number)
    return steps[row + 1, step] if step >= 0 else clock[maximum + Maximum.FLOOR]


@kernel
def add_value(clock: np.ndarray, steps: np.ndarray, maximum: int, row: int, number: int, value: int) -> None:
    """Add the value of a sequence number that is larger than all before. Of too many steps the oldest are forgotten."""
    if value <= largest_value(clock, steps, maximum, row):
        return
    count, history = clock[maximum + Maximum.STEPS], clock[Clock.HISTORY]
    if count == 2 * history:
        # With the new one there would be more than twice the history: only its latest part stays.
        clock[maximum + Maximum.FLOOR] = steps[row + 1, history]
        for step in range(history - 1):
            steps[row, step] = steps[row, history + 1 + step]
            steps[row + 1, step] = steps[row + 1, history + 1 + step]
        count = history - 1
    steps[row, count] = number
    steps[row + 1, count] = value
    clock[maximum + Maximum.STEPS] = count + 1


@kernel
def last_not_after(numbers: np.ndarray, row: int, count: int, number: int) -> int:
    """Return the index of the last of ascending numbers that is not larger than a number; -1 if all are larger."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if numbers[row, middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def add_overlap(clock: np.ndarray, moments: np.ndarray, last_committed: int, sequence: int) -> None:
    """Count a transaction at the moments from `last_committed` to its end."""
    count = clock[Clock.MOMENTS]
    before = last_not_after(moments, Moments.NUMBER, count, last_committed)
    moments[Moments.NUMBER, count] = sequence
    moments[Moments.DROP, count] = 1
    moments[Moments.BEFORE, count] = count
    clock[Clock.MOMENTS] = count + 1
    while before >= 0 and moments[Moments.BEFORE, before] != before:
        lead = moments[Moments.BEFORE, before]
        if lead >= 0:
            moments[Moments.BEFORE, before] = moments[Moments.BEFORE, lead]
        before = lead
    if before < 0:
        clock[Clock.LARGEST] += 1
        return
    moments[Moments.DROP, before] -= 1
    if moments[Moments.DROP, before] == 0:
        moments[Moments.BEFORE, before] = before - 1
