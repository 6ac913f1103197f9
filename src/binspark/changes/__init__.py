"""Events into changed rows: the reference path, one row at a time."""

from binspark.changes.as_json import change_json, key_json
from binspark.changes.change import Change
from binspark.changes.reader import ChangeReader

__all__ = ["Change", "ChangeReader", "change_json", "key_json"]
