"""A Ctrl-C while something is imported for the first time: half of it would stay for all of the process's life."""

import subprocess
import sys

import pytest

from kronbot import description

# A signal comes when a module is looked for, which it does not interrupt: the same works afterwards.
INTERRUPTED = """
import signal, sys, time
import kronbot
class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                time.sleep(0.11)  # no repetition of the one before
def asked():
    return eval(sys.argv[3], {"kronbot": kronbot, "robot": robot})
robot = eval(sys.argv[2])
sys.meta_path.insert(0, Finder())
try:
    asked()
except KeyboardInterrupt:
    asked()
    print("answered")
"""
NONE, KHANG = "None", "kronbot.load('khang')"
URDF = "<robot name='a'><link name='b'/></robot>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "robot", "asked"),
    [
        ("numpy.exceptions", NONE, "kronbot.load('khang').jacobian()"),
        ("yaml.cyaml", NONE, "kronbot.convert('robot.urdf')"),
        ("mpmath.functions.zetazeros", KHANG, "robot.symbolic().jacobian()"),
        ("pandas._libs.tslibs.ccalendar", KHANG, "robot.jacobian().arrays['J_T'].to_pandas()"),
        ("matplotlib.rcsetup", f"{KHANG}.modes()", "robot.plot('picture.svg', overwrite=True)"),
    ],
)
def test_a_ctrl_c_waits_for_imports(module, robot, asked, tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    (tmp_path / "robot.yaml").write_text(description.read("khang").text)
    words = [sys.executable, "-c", INTERRUPTED, module, robot, asked]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "answered\n"
