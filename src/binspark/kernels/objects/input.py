"""What the rows that become objects are: which have one, which columns are in it, which values are NULL."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, load32
from binspark.kernels.objects.layout import Field, Rows


@kernel
def has_object(rows: int, row: int) -> bool:
    valid = get(rows, Rows.VALID)
    return valid == 0 or load8(valid + row) != 0


@kernel
def image_of(rows: int, row: int) -> int:
    """Return the address of a byte for each column, 1 if the row has it; 0 if all rows have all columns."""
    images = get(rows, Rows.IMAGES)
    if images == 0:
        return 0
    return get(rows, Rows.PRESENT) + get(rows, Rows.FIELD_COUNT) * load32(images + 4 * row)


@kernel
def has_value(field: int, row: int) -> bool:
    """Tell whether a value is not NULL."""
    validity = get(field, Field.VALIDITY)
    if validity == 0:
        return get(field, Field.WRITER) != 0
    bit = get(field, Field.FIRST_BIT) + row
    return load8(validity + (bit >> 3)) >> (bit & 7) & 1 == 1


@kernel
def is_present(image: int, index: int) -> bool:
    """Tell whether an image has a column."""
    return image == 0 or load8(image + index) != 0
