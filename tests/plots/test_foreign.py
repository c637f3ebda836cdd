"""Settings and fonts that others have laid where matplotlib looks for them."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from thinned import rare

from kronbot.errors import KronbotError
from kronbot.plots import foreign

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, links and owners of POSIX")
BEGIN = """
import sys
from kronbot.errors import UsageError
from kronbot.plots.style import demand_matplotlib
try:
    demand_matplotlib()
except UsageError as error:
    sys.exit(str(error))
import matplotlib
print(matplotlib.get_cachedir())
"""


def begin(folder, **places):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MPL", "XDG"))}
    environment = {**inherited, "PYTHONPATH": os.pathsep.join(sys.path), **places}
    return subprocess.run(
        [sys.executable, "-c", BEGIN], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


def test_settings_that_cannot_be_read_are_told(tmp_path):
    (tmp_path / "matplotlibrc").write_bytes(b"\xff\xfe\0")
    assert "cannot read its settings (matplotlibrc)" in begin(tmp_path, HOME=str(tmp_path)).stderr
    (tmp_path / "matplotlibrc").unlink()
    os.mkfifo(tmp_path / "matplotlibrc")
    assert "matplotlibrc in the current folder is a pipe" in begin(tmp_path, HOME=str(tmp_path)).stderr
    (tmp_path / "matplotlibrc").unlink()
    (tmp_path / "matplotlibrc").write_text("\033]0;title\007foo: 1\n")
    assert begin(tmp_path, HOME=str(tmp_path)).stderr == ""
    os.truncate(tmp_path / "matplotlibrc", 1 << 32)
    assert "has more than a megabyte" in begin(tmp_path, HOME=str(tmp_path)).stderr


def test_folders_that_killed_processes_have_left_go(tmp_path, monkeypatch):
    """Not those in use, nor those that have just been made, nor in a place where others may name folders, nor such
    that only look like them."""
    place = tmp_path / "place"
    place.mkdir(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    script = "import os\nfrom kronbot.plots.foreign import _elsewhere\nwith _elsewhere(): os.kill(os.getpid(), 9)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(place)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    left, young = place.iterdir()
    own = [place / f"kronbot-matplotlib-{name}" for name in ("figures", "mine1234", "group123")]
    for each in own:
        each.mkdir(0o755 if each.name.endswith("group123") else 0o700)
        (each / ("thesis.txt" if each.name.endswith("mine1234") else "in-use")).touch()
        os.utime(each, (0, 0))
    with foreign._elsewhere():
        (used,) = {*place.iterdir()} - {left, young, *own}
        for old in (left, used):
            os.utime(old, (0, 0))
        place.chmod(0o777)
        with foreign._elsewhere():
            assert left.exists()
        place.chmod(0o700)
        with foreign._elsewhere():
            assert not left.exists() and used.exists() and young.exists()
    assert {*place.iterdir()} == {young, *own}


@pytest.mark.slow
def test_a_list_of_fonts_that_cannot_be_written_is_no_news(tmp_path):
    """Nor is a program of the current folder asked for fonts."""
    program = tmp_path / "fc-list"
    program.write_text(f"#!/bin/sh\n: >{tmp_path}/asked\n")
    program.chmod(0o700)
    path = f":.:{os.environ.get('PATH', '')}"
    told = begin(tmp_path, HOME=str(tmp_path), MPLCONFIGDIR="/proc", PATH=path)  # not even root writes there
    assert (told.returncode, told.stderr) == (0, "") and not (tmp_path / "asked").exists()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["HOME", rare("MPLCONFIGDIR"), rare("XDG_CACHE_HOME")])
def test_folders_of_others_are_left_alone(tmp_path, where):
    (tmp_path / "own").mkdir(mode=0o700)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    told = begin(tmp_path, **{"HOME": str(tmp_path / "own"), where: str(shared)})
    assert told.returncode == 0, told.stderr
    assert not list(shared.iterdir())
    assert not Path(told.stdout.strip()).exists()  # the folder for now has gone


@pytest.mark.slow
def test_fonts_of_others_are_not_opened(tmp_path):
    """A pipe among them would be waited for."""
    (tmp_path / "own").mkdir(mode=0o700)
    for fonts in ("shared/.fonts", "shared/fonts", "shared/.local/share/fonts"):
        (tmp_path / fonts).mkdir(parents=True)
        os.mkfifo(tmp_path / fonts / "waiting.ttf")
    (tmp_path / "shared").chmod(0o777)
    shared = str(tmp_path / "shared")
    told = begin(tmp_path, HOME=shared, XDG_DATA_HOME=shared, MPLCONFIGDIR=str(tmp_path / "own"))
    assert told.returncode == 0, told.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users: NOT TESTED here")
def test_settings_of_others_in_the_current_folder_are_refused(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    os.chown(tmp_path / "matplotlibrc", 54321, 54321)
    assert "somebody else's: remove" in begin(tmp_path, HOME=str(tmp_path)).stderr


@pytest.mark.slow
def test_folders_of_ones_own_are_used(tmp_path):
    tmp_path.chmod(0o700)
    told = begin(tmp_path, HOME=str(tmp_path))
    assert told.stdout.strip() == str(tmp_path / ".cache" / "matplotlib"), told.stderr


def test_a_limit_of_the_process_is_told_as_what_it_is(monkeypatch):
    def refuse():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(foreign, "_own", refuse)
    with pytest.raises(KronbotError, match=r"cannot load matplotlib: Too many open files \(ulimit -n\)"):
        foreign.import_matplotlib()
