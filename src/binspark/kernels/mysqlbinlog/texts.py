"""The texts between the values of events, which kernels copy: one array of bytes, and where each of them is."""

from __future__ import annotations

from enum import IntEnum


class Text(IntEnum):
    """The texts, by their index."""

    AT = 0
    NEWLINE_HASH = 1
    SERVER = 2
    END_POSITION = 3
    CHECKSUM = 4
    GTID = 5
    SEQUENCE = 6
    RBR_YES = 7
    RBR_NO = 8
    IMMEDIATE = 9
    LENGTH = 10
    ISOLATION = 11
    ORIGINAL_COMMENT = 12
    IMMEDIATE_COMMENT = 13
    SET_ORIGINAL = 14
    SET_ORIGINAL_VERSION = 15
    SET_VERSION = 16
    SET_GTID = 17
    END_GTID = 18
    QUERY = 19
    EXECUTION_TIME = 20
    ERROR_CODE = 21
    SET_TIMESTAMP = 22
    BEGIN = 23
    XID = 24
    COMMIT = 25
    TABLE_MAP = 26
    TABLE_NAME = 27
    MAPPED_TO = 28
    HAS_KEY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    FLAGS = 33
    STMT_END = 34
    NO_FOREIGN_KEYS = 35
    RELAXED_UNIQUE = 36
    COMPLETE_ROWS = 37
    SQL_FOREIGN_KEY = 38
    BINLOG = 39
    END_BINLOG = 40
    ZONE = 41


TEXTS: dict[Text, bytes] = {
    Text.AT: b"# at ",
    Text.NEWLINE_HASH: b"\n#",
    Text.SERVER: b" server id ",
    Text.END_POSITION: b"  end_log_pos ",
    Text.CHECKSUM: b" CRC32 0x",
    Text.GTID: b" \tGTID\tlast_committed=",
    Text.SEQUENCE: b"\tsequence_number=",
    Text.RBR_YES: b"\trbr_only=yes\toriginal_committed_timestamp=",
    Text.RBR_NO: b"\trbr_only=no\toriginal_committed_timestamp=",
    Text.IMMEDIATE: b"\timmediate_commit_timestamp=",
    Text.LENGTH: b"\ttransaction_length=",
    Text.ISOLATION: b"\n/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*//*!*/;",
    Text.ORIGINAL_COMMENT: b"\n# original_commit_timestamp=",
    Text.IMMEDIATE_COMMENT: b"\n# immediate_commit_timestamp=",
    Text.SET_ORIGINAL: b"\n/*!80001 SET @@session.original_commit_timestamp=",
    Text.SET_ORIGINAL_VERSION: b"*//*!*/;\n/*!80014 SET @@session.original_server_version=",
    Text.SET_VERSION: b"*//*!*/;\n/*!80014 SET @@session.immediate_server_version=",
    Text.SET_GTID: b"*//*!*/;\nSET @@SESSION.GTID_NEXT= '",
    Text.END_GTID: b"'/*!*/;\n",
    Text.QUERY: b" \tQuery\tthread_id=",
    Text.EXECUTION_TIME: b"\texec_time=",
    Text.ERROR_CODE: b"\terror_code=0",
    Text.SET_TIMESTAMP: b"\nSET TIMESTAMP=",
    Text.BEGIN: b"/*!*/;\nBEGIN\n/*!*/;\n",
    Text.XID: b" \tXid = ",
    Text.COMMIT: b"\nCOMMIT/*!*/;\n",
    Text.TABLE_MAP: b" \tTable_map: `",
    Text.TABLE_NAME: b"`.`",
    Text.MAPPED_TO: b"` mapped to number ",
    Text.HAS_KEY: b"\n# has_generated_invisible_primary_key=",
    Text.WRITE_ROWS: b" \tWrite_rows: table id ",
    Text.UPDATE_ROWS: b" \tUpdate_rows: table id ",
    Text.DELETE_ROWS: b" \tDelete_rows: table id ",
    Text.FLAGS: b" flags:",
    Text.STMT_END: b" STMT_END_F",
    Text.NO_FOREIGN_KEYS: b" NO_FOREIGN_KEY_CHECKS_F",
    Text.RELAXED_UNIQUE: b" RELAXED_UNIQUE_CHECKS_F",
    Text.COMPLETE_ROWS: b" COMPLETE_ROWS_F",
    Text.SQL_FOREIGN_KEY: b" USE_SQL_FOREIGN_KEY_F",
    Text.BINLOG: b"\nBINLOG '\n",
    Text.END_BINLOG: b"'/*!*/;\n",
    Text.ZONE: b"",
}
