"""Doubles with a given number of digits, as C prints them with `%.20g` or `%g`: rounded from all their digits."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, put, store8
from binspark.kernels.printing.digits import write_padded, write_unsigned
from binspark.kernels.text import copy_short
from binspark.kernels.words import ZERO, stack_words

_SIGN = -(1 << 63)
_FRACTION_BITS = 52
_HIDDEN_BIT = 1 << _FRACTION_BITS
_BIAS = 1075
_NOT_FINITE = 0x7FF
_GROUP = 10**9
_GROUP_DIGITS = 9
_LOW_32 = 0xFFFF_FFFF
_MIN_POINT = -4
_MINUS, _PLUS, _POINT, _E, _DIGIT_0, _DIGIT_5, _DIGIT_9 = (ord(character) for character in "-+.e059")
_NINE = ZERO + 9


@kernel
def write_exact(at: int, bits: int, precision: int) -> int:
    """Write a double, given by its bits; return the address after it, or -1 if it is not a number."""
    if bits < 0:
        store8(at, _MINUS)
        at += 1
        bits ^= _SIGN
    stored = bits >> _FRACTION_BITS
    if stored == _NOT_FINITE:
        return -1
    if bits == 0:
        store8(at, _DIGIT_0)
        return at + 1
    mantissa = bits & (_HIDDEN_BIT - 1)
    exponent = 1 - _BIAS
    if stored:
        mantissa |= _HIDDEN_BIT
        exponent = stored - _BIAS
    digits = stack_words(64)
    limbs = stack_words(40)
    if exponent >= 0:
        count = write_integer(digits, limbs, mantissa, exponent)
        return write_rounded(at, digits, count, count - 1, precision, False)
    shift = -exponent
    whole = mantissa >> shift if shift <= _FRACTION_BITS else ZERO
    count = write_unsigned(digits, whole) - digits if whole else ZERO
    point = count - 1
    size = set_fraction(limbs, mantissa if shift > _FRACTION_BITS else mantissa & ((1 << shift) - 1), shift)
    low = ZERO
    while low < size and get(limbs, low) == 0:
        low += 1
    while low < size and count <= precision + 1:
        group = ZERO
        for index in range(low, size):
            product = get(limbs, index) * _GROUP + group
            put(limbs, index, product & _LOW_32)
            group = product >> 32
        while low < size and get(limbs, low) == 0:
            low += 1
        if count == 0:
            if group == 0:
                point -= _GROUP_DIGITS
                continue
            length = write_unsigned(digits, group) - digits
            point -= _GROUP_DIGITS - length
            count = length
            continue
        write_padded(digits + count, group, _NINE)
        count += _GROUP_DIGITS
    return write_rounded(at, digits, count, point, precision, low < size)


@kernel
def set_fraction(limbs: int, fraction: int, shift: int) -> int:
    """Store `fraction` / 2**`shift` as limbs of 32 bits, the lowest first; return how many there are."""
    size = (shift + 31) >> 5
    for index in range(size):
        put(limbs, index, ZERO)
    left = size * 32 - shift
    low = (fraction & _LOW_32) << left
    high = (fraction >> 32) << left
    put(limbs, ZERO, low & _LOW_32)
    if size > 1:
        high += low >> 32
        put(limbs, ZERO + 1, high & _LOW_32)
    if size > 2:
        put(limbs, ZERO + 2, high >> 32)
    return size


@kernel
def write_integer(digits: int, limbs: int, mantissa: int, shift: int) -> int:
    """Write the digits of `mantissa` * 2**`shift`; return how many there are."""
    if shift < 10:
        return write_unsigned(digits, mantissa << shift) - digits
    first, bit = shift >> 5, shift & 31
    size = first + 3
    for index in range(first):
        put(limbs, index, ZERO)
    low = (mantissa & _LOW_32) << bit
    high = ((mantissa >> 32) << bit) + (low >> 32)
    put(limbs, first, low & _LOW_32)
    put(limbs, first + 1, high & _LOW_32)
    put(limbs, first + 2, high >> 32)
    groups = stack_words(40)
    number = ZERO
    while size > 0:
        remainder = ZERO
        for step in range(size):
            index = size - 1 - step
            value = remainder << 32 | get(limbs, index)
            put(limbs, index, value // _GROUP)
            remainder = value % _GROUP
        put(groups, number, remainder)
        number += 1
        while size > 0 and get(limbs, size - 1) == 0:
            size -= 1
    count = write_unsigned(digits, get(groups, number - 1)) - digits
    for step in range(1, number):
        write_padded(digits + count, get(groups, number - 1 - step), _NINE)
        count += _GROUP_DIGITS
    return count


@kernel
def write_rounded(at: int, digits: int, count: int, point: int, precision: int, has_more: bool) -> int:
    """Write digits, of which the first has the power of ten `point`, rounded to `precision` digits, half to even."""
    if count > precision:
        next_digit = load8(digits + precision)
        rest = has_more
        for index in range(precision + 1, count):
            rest |= load8(digits + index) != _DIGIT_0
        is_odd = load8(digits + precision - 1) & 1
        count = precision
        if next_digit > _DIGIT_5 or (next_digit == _DIGIT_5 and (rest or is_odd)):
            index = precision - 1
            while index >= 0 and load8(digits + index) == _DIGIT_9:
                index -= 1
            if index < 0:
                store8(digits, _DIGIT_0 + 1)
                count = ZERO + 1
                point += 1
            else:
                store8(digits + index, load8(digits + index) + 1)
                count = index + 1
    while count > 1 and load8(digits + count - 1) == _DIGIT_0:
        count -= 1
    if point < _MIN_POINT or point >= precision:
        return write_with_exponent(at, digits, count, point)
    if point < 0:
        store8(at, _DIGIT_0)
        store8(at + 1, _POINT)
        at += 2
        for _ in range(-1 - point):
            store8(at, _DIGIT_0)
            at += 1
        copy_short(at, digits, count)
        return at + count
    whole = point + 1
    if count <= whole:
        copy_short(at, digits, count)
        for index in range(count, whole):
            store8(at + index, _DIGIT_0)
        return at + whole
    copy_short(at, digits, whole)
    store8(at + whole, _POINT)
    copy_short(at + whole + 1, digits + whole, count - whole)
    return at + count + 1


@kernel
def write_with_exponent(at: int, digits: int, count: int, point: int) -> int:
    """Write digits with an exponent of at least two digits."""
    store8(at, load8(digits))
    at += 1
    if count > 1:
        store8(at, _POINT)
        copy_short(at + 1, digits + 1, count - 1)
        at += count
    store8(at, _E)
    store8(at + 1, _MINUS if point < 0 else _PLUS)
    at += 2
    if point < 0:
        point = -point
    if point < 10:
        store8(at, _DIGIT_0)
        at += 1
    return write_unsigned(at, point)
