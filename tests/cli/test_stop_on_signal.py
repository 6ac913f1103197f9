"""Signals stop a command in order; a second one, later, ends it at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = """
import sys, threading
from binspark.cli import live

live.ONE_SIGNAL_SECONDS = float(sys.argv[2])
stopped, ended = threading.Event(), threading.Event()
with live.stop_on_signal(stopped.set):
    print("running", flush=True)
    stopped.wait()
    print("stopping", flush=True)
    ended.wait(float(sys.argv[1]))
print("ended in order", flush=True)
"""


def start(seconds_to_end: float, one_signal_seconds: float) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", COMMAND, str(seconds_to_end), str(one_signal_seconds)]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert command.stdout is not None
    assert command.stdout.readline() == "running\n"
    return command


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_arrive_together_are_one(number: signal.Signals) -> None:
    with start(0, one_signal_seconds=2) as command:  # long enough for the loop on a busy machine
        for _ in range(20):  # the process handles some of them one by one
            os.kill(command.pid, number)
            os.killpg(command.pid, number)
            time.sleep(0.001)
        output, _ = command.communicate()
    assert output == "stopping\nended in order\n"
    assert command.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_process_at_once(number: signal.Signals) -> None:
    with start(600, one_signal_seconds=0.1) as command:
        os.kill(command.pid, number)
        assert command.stdout is not None
        assert command.stdout.readline() == "stopping\n"  # not before the time for one signal is over
        os.kill(command.pid, number)
        assert command.wait() == -number
