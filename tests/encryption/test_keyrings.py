"""Keyring files of all kinds: their keys, which are never shown, and what is wrong with those that do not work."""

from __future__ import annotations

import pickle
import struct
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

from binspark import load_keyring
from binspark.encryption.keyring import Keyring, parse_keyring
from binspark.errors import BinlogError, Malformed, OptionError, SourceError
from binspark.files.keyring_file import keyring_storage
from tests.support.encryption.encrypting import KEY, KEY_ID, save_mariadb_keys, save_mysql_keyring


def plugin_file(*keys: tuple[str, bytes]) -> bytes:
    """Return a file as the plugin keyring_file writes it: documented by its source, without a server to record one."""
    content = b"Keyring file version:2.0"
    for key_id, key in keys:
        hidden = bytes(a ^ b for a, b in zip(key, cycle(b"*305=Ljt0*!@$Hnm(*-9-w;:"), strict=False))
        fields = key_id.encode() + b"AES" + hidden
        lengths = struct.pack("<4Q", len(key_id), 3, 0, len(key))
        size = 8 + len(lengths) + len(fields)
        padding = -size % 8
        content += struct.pack("<Q", size + padding) + lengths + fields + bytes(padding)
    return content + b"EOF" + bytes(32)


def test_a_keyring_of_the_component_has_the_replication_keys(tmp_path: Path) -> None:
    assert load_keyring(save_mysql_keyring(tmp_path)).mysql == ((KEY_ID, KEY),)


def test_keys_of_tablespaces_are_left_out(tmp_path: Path) -> None:
    assert load_keyring(save_mysql_keyring(tmp_path, key_id="INNODBKey-1")).mysql == ()


def test_a_keyring_of_the_plugin_has_the_replication_keys() -> None:
    keyring = parse_keyring(plugin_file(("INNODBKey-1", b"x" * 32), (KEY_ID, KEY)), "keyring")
    assert keyring.mysql == ((KEY_ID, KEY),)


def test_a_key_file_has_the_key_for_logs(tmp_path: Path) -> None:
    assert load_keyring(save_mariadb_keys(tmp_path)).mariadb == ((1, KEY),)


@pytest.mark.parametrize(
    "options",
    [("-md", "sha1"), ("-md", "sha256"), ("-md", "md5"), ("-md", "sha512"), ("-md", "sha256", "-pbkdf2")],
    ids=" ".join,
)
def test_a_key_file_that_openssl_encrypted_is_read_with_its_password(tmp_path: Path, options: tuple[str, ...]) -> None:
    keys, encrypted, password = save_mariadb_keys(tmp_path), tmp_path / "keys.enc", tmp_path / "password"
    password.write_text("correct horse\n")
    command = ("openssl", "enc", "-aes-256-cbc", *options, "-pass", f"file:{password}")
    subprocess.run([*command, "-in", keys, "-out", encrypted], check=True, capture_output=True)
    assert load_keyring(encrypted, password).mariadb == ((1, KEY),)
    with pytest.raises(Malformed, match="the key file is encrypted; give the file with its password too"):
        load_keyring(encrypted)
    password.write_text("wrong")
    with pytest.raises(Malformed, match="the password is wrong"):
        load_keyring(encrypted, password)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "this is not a keyring"),
        (b"some text", "this is not a keyring"),
        (b"1;abc\n", "this is not a keyring"),
        (b"2;" + b"ab" * 16, "has no key 1, which encrypts logs; it has 2"),
        (b'{"version": "1.0"}', "not the JSON of component_keyring_file"),
        (b'{"elements": [{"data_id": "x", "data": "5ec7e7"', "not the JSON of component_keyring_file"),
        (plugin_file((KEY_ID, KEY))[:-60], "not a complete file of keyring_file"),
        (b" " * (1 << 21), "more than 1,048,576 bytes"),
    ],
    ids=["empty", "text", "short key", "other key", "no elements", "cut off", "plugin cut off", "large"],
)
def test_what_is_wrong_with_a_keyring_is_reported_with_its_name(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(Malformed, match=reason) as caught:
        load_keyring(path)
    assert caught.value.position.file == str(path)
    assert "5ec7e7" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        load_keyring(tmp_path / "nowhere")


def test_a_password_without_a_key_file_is_refused() -> None:
    with pytest.raises(OptionError, match="keyring_password_file is the password of a key file; give keyring too"):
        keyring_storage(None, "password")


def test_keys_are_not_shown() -> None:
    keyring = Keyring("keys", ((KEY_ID, KEY),), ((1, KEY),))
    storage = keyring_storage(keyring)
    for shown in (repr(keyring), str(keyring), repr(storage)):
        assert KEY.hex() not in shown
        assert repr(KEY)[2:-1] not in shown
    assert repr(keyring) == "Keyring('keys', 2 keys)"
    assert pickle.loads(pickle.dumps(storage)) == storage


def test_any_bytes_are_a_keyring_or_an_error() -> None:
    complete = plugin_file((KEY_ID, KEY))
    for length in range(len(complete)):
        try:
            parse_keyring(complete[:length], "keys")
        except BinlogError:
            continue
