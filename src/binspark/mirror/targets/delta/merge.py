"""`MERGE` of Delta's own jar, in a Spark session that has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import pyspark
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from binspark.errors import BinlogError, OptionError, SourceError
from binspark.mirror.records.format import OP, RecordOp
from binspark.mirror.state import TableState
from binspark.mirror.targets.delta.log import APPLICATION, user_metadata
from binspark.mirror.targets.target import CommitConflict, TargetError
from binspark.position import Position

_EXTENSIONS = "spark.sql.extensions"
_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOG = "spark.sql.catalog.spark_catalog"
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_PACKAGES = "spark.jars.packages"
_GIVEN = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""By these variables users say what Spark has."""

_JARS: Mapping[str, str] = {"4.2": "io.delta:delta-spark_4.2_2.13:4.4.0"}
"""The jar of Delta for each version of Spark that one was tested with."""

_APPLICATION = "spark.databricks.delta.write.txnAppId"
_TRANSACTION = "spark.databricks.delta.write.txnVersion"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_SETTINGS = {
    # Files as the mirror reads them: exact times, and all rows of a file are valid.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
}
_INSTEAD = "--format delta writes the same tables without a jar"
_CONFLICTS = ("DELTA_CONCURRENT_", "ConcurrentModificationException", "DELTA_MAX_COMMIT_RETRIES_EXCEEDED")
_MISFITS = (
    "Cannot find catalog plugin class",
    "DATA_SOURCE_NOT_FOUND",
    "NoClassDefFoundError",
    "NoSuchMethodError",
    "AbstractMethodError",
)
_NO_DETAILS = re.compile(r"^An error occurred while calling [^:]*:\s*(?:[\w.$]+: )?", re.DOTALL)
_CAUSES = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
"""The last cause is what happened: that a disk is full, say."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Changes that are merged into a table.

    table     its address
    files     files with at most one change of each key (see `leaves.change_files`)
    columns   its columns
    key       the columns by which rows are found
    """

    table: str
    files: tuple[str, ...]
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def sql(self) -> str:
        """Return the statement."""
        names = [_quoted(name) for name in self.columns]
        source = " UNION ALL ".join(f"SELECT * FROM parquet.{_quoted(file)}" for file in self.files)  # noqa: S608 (quoted)
        found = " AND ".join(f"t.{name} = s.{name}" for name in map(_quoted, self.key))
        is_deletion = f"s.{_quoted(OP)} = {int(RecordOp.DELETE)}"
        return (
            f"MERGE INTO delta.{_quoted(self.table)} t USING ({source}) s ON {found}"  # noqa: S608 (quoted)
            f" WHEN MATCHED AND {is_deletion} THEN DELETE"
            f" WHEN MATCHED THEN UPDATE SET {', '.join(f't.{name} = s.{name}' for name in names)}"
            f" WHEN NOT MATCHED AND NOT {is_deletion}"
            f" THEN INSERT ({', '.join(names)}) VALUES ({', '.join(f's.{name}' for name in names)})"
        )


class DeltaMerge:
    """Executes `MERGE`, one at a time, in a session of its own beside that of the user."""

    def __init__(self, spark: SparkSession) -> None:
        if _EXTENSION not in (spark.conf.get(_EXTENSIONS, None) or ""):
            found = f"Spark {spark.version} without {_EXTENSIONS} = {_EXTENSION}"
            raise OptionError(f"needs a session with Delta's jar, got {found}; {_INSTEAD}", option="format")
        self._version = spark.version
        self._spark = spark.newSession()
        for name, value in _SETTINGS.items():
            self._spark.conf.set(name, value)
        self._merging = Lock()

    def check(self, table: str) -> None:
        """Read a table: an error says if the jar does not fit Spark, or Spark does not reach the table."""
        with self._errors(table):
            self._spark.sql(f"SELECT * FROM delta.{_quoted(table)} LIMIT 1").collect()  # noqa: S608 (quoted)

    def execute(self, merge: Merge, number: int, state: TableState) -> None:
        """Merge changes in one commit with a state, as the transaction with a number.

        A transaction that the table has already is not made again. If no row changes, there may be no commit.
        """
        transaction = {_APPLICATION: APPLICATION, _TRANSACTION: str(number), _METADATA: user_metadata(state)}
        with self._merging, self._errors(merge.table):
            for name, value in transaction.items():
                self._spark.conf.set(name, value)
            try:
                self._spark.sql(merge.sql()).collect()
            finally:
                for name in transaction:
                    self._spark.conf.unset(name)

    @contextmanager
    def _errors(self, table: str) -> Iterator[None]:
        """Turn whatever Spark raises in the block into an error that names the table."""
        position = Position(file=table)
        try:
            yield
        except BinlogError:
            raise
        except Exception as error:
            text = str(error)
            if any(word in text for word in _CONFLICTS):
                message = "another program changed the table while the mirror prepared a commit"
                raise CommitConflict(message, position) from None
            reason = "; ".join((_NO_DETAILS.sub("", text).partition("\n")[0], *_CAUSES.findall(text)[-1:]))
            if any(word in text for word in _MISFITS):
                message = f"Delta's jar is not for Spark {self._version}: {reason}"
                raise TargetError(f"{message}; {_INSTEAD}", position) from None
            kind = TargetError if isinstance(error, AnalysisException) else SourceError
            raise kind(f"Spark: {reason}", position) from None


def session_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings of a session with Delta's jar, which Spark fetches unless users say what it has."""
    settings = {_EXTENSIONS: _EXTENSION, _CATALOG: _DELTA_CATALOG}
    if any(name in environment for name in _GIVEN):
        return settings
    jar = _JARS.get(".".join(pyspark.__version__.split(".")[:2]))
    if jar is None:
        raise OptionError(
            f"needs Spark {' or '.join(_JARS)}, for which there is a jar of Delta, got pyspark {pyspark.__version__}; "
            f"{_INSTEAD}",
            option="format",
        )
    return {**settings, _PACKAGES: jar}


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
