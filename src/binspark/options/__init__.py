"""Options: one name and one meaning for each, on the command line, in Python and in Spark.

module   what it defines
option   an option: its name on each surface, its parser, its help text; old names; suggestions for misspelled names
values   parsers of values, which are shared by all surfaces
server   the options of a connection to a server, and of a stream

The options that select rows are in `binspark.changes.selection_options`, Spark's own in `binspark.spark.options`.
"""
