"""Conditions on the values of rows: `id = 42 AND after.state IN ('paid', 'sent')`.

module      what it defines
condition   what a condition is made of
parser      text into a condition
literals    literals as values of a column's type
evaluate    which rows of a batch a condition selects
"""
