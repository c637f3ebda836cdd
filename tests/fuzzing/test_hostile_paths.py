"""Directories, devices, links, files that vanish: refused without waiting for them."""

import os
from dataclasses import replace

import pytest
from fuzzing import harness
from fuzzing.texts import GOOD

from kronbot.description.yaml import source


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
    monkeypatch.setattr(source, "absent", lambda path: False)
    answer = harness.attempt(["check", str(path)])
    assert answer.code == 3
    # The memory of this process is that of all the tests before.
    assert harness.faults(replace(answer, memory=0.0), ["check"]) == []
    assert "No such file" in answer.err


@pytest.mark.parametrize("link", ["torque.csv", "tables"])
def test_tables_behind_links_that_lead_out(kron, tmp_path, link):
    """Of the file itself or of its folder: a robot from somewhere else reads nothing but what it brought along."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "torque.csv").write_text("t,torque\n0,1\n9,1\n")
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / link).symlink_to(tmp_path / "secret" / ("torque.csv" if link.endswith(".csv") else ""))
    name = link if link.endswith(".csv") else f"{link}/torque.csv"
    drive = f"simulate: {{duration: 1, step: 0.5, drive: {{q: {{torque: {{file: {name}}}}}}}}}\n"
    text = """
kronbot: 1
name: r
gravity: [0, 0, 0]
links:
  - {name: arm, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1, inertia: {Izz: 1}}}
"""
    (folder / "r.yaml").write_text(text + drive)
    answer = kron("simulate", folder / "r.yaml")
    assert answer.code == 3
    assert "leads out of the folder" in answer.err
