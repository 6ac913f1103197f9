"""`python -m binspark` is the command `binspark`."""

from binspark.cli.main import run

run()
