"""Directories, devices, links, files that vanish: refused without waiting for them."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from fuzzing import harness
from fuzzing.texts import GOOD


def test_things_that_are_no_robot_file(kron, tmp_path):
    """Directories, devices, pipes, sockets: refused without waiting for them."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("gone")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 100_000_000)
    for name in (tmp_path, "/", tmp_path / "fifo", tmp_path / "zero", tmp_path / "large", "/dev/zero", "/dev/null"):
        assert kron("check", name, "--format", "json").code == 3
    for name in (
        tmp_path / "loop",
        tmp_path / "nowhere",
        tmp_path / "none",
        "",
        " ",
        "a" * 5000,
        "../" * 2000,
        "\x1b[31m",
        "-x",
    ):
        assert kron("check", name, "--format", "json").code in (2, 3)


def test_a_file_of_the_process_itself(kron):
    """Files of /proc say that they are empty, or hold anything."""
    for name in ("/proc/self/environ", "/proc/self/mem", "/proc/self/fd/0", "/proc/kmsg", "/proc/self/maps"):
        if os.path.exists(name):
            assert kron("check", name, "--format", "json").code == 3


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(kron, tmp_path):
    (tmp_path / "r.yaml").write_text(GOOD)
    (tmp_path / "r.yaml").chmod(0)
    assert kron("check", tmp_path / "r.yaml").code == 3


def test_a_file_that_vanishes(kron, tmp_path, monkeypatch):
    """Between the look and the reading."""
    path = tmp_path / "r.yaml"
    monkeypatch.setattr(Path, "exists", lambda self: True)
    answer = harness.attempt(["check", str(path)])
    assert answer.code == 3
    # The memory of this process is that of all the tests before.
    assert harness.faults(replace(answer, memory=0.0), ["check"]) == []
    assert "No such file" in answer.err
