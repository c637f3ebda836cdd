"""What a case of a sweep costs beside its own numbers: answered alone or with others, its values, its row, its chunk.

10,000 `modes` of a planar flexible arm over EI and payload, in processor time, since other processes share the machine.
"""

import tempfile
import time
from pathlib import Path

CASES, ALONE, VALUES = 10_000, 1_000, 1_000
ARM = """
kronbot: 1
name: planar
convention: standard
gravity: [0, -9.81, 0]
parameters: {EI: 200, payload: 1}
links:
"""
LINK = """
  - name: l{0}
    joint: {{type: revolute, name: q{0}}}
    dh: {{a: 1, d: 0, alpha: 0, theta: 0}}
    flexible: {{mass: 1, EI: {{y: EI, z: EI}}, modes: {{v: 2, w: 0}}}}
"""


class Still:
    """A robot whose answer is known."""

    def __init__(self, robot):
        self.model, self.answer = robot.model, robot.modes()

    def answers(self, question, cases):
        return (self.answer for _ in cases)

    modes = None


class AtOnce:
    """An engine whose chunks are there at once."""

    workers = 2

    def __init__(self):
        self.spans = []

    def submit(self, span):
        self.spans.append(span)

    def results(self):
        from kronbot.sweeps.work import Done

        spans, self.spans = self.spans, []
        return [Done(start, stop, b"", 0, 1e-3 * (stop - start)) for start, stop in spans]


def arm(folder):
    """The planar arm."""
    import kronbot

    path = Path(folder) / "planar.yaml"
    path.write_text(ARM + LINK.format(1) + LINK.format(2) + "    payload: {mass: payload}\n")
    return kronbot.load(path)


def cases(first, count):
    """Cases of values that no other one has."""
    from kronbot.sweeps.work import Case

    return [Case({"EI": 100 + 0.1 * i, "payload": 1 + 1e-4 * i}, {}) for i in range(first, first + count)]


def steps(robot):
    """What is done for so many cases, by name."""
    from kronbot.library.cases import answer
    from kronbot.sweeps.driver import Driver
    from kronbot.sweeps.work import Task

    swept = robot.sweep("modes", over={"EI": f"100:1000:{CASES}"})
    task = Task(Still(robot), "modes", {}, *(getattr(swept.task, word) for word in ("cases", "meanings", "kept")))
    return {
        "modes, together": (CASES, lambda: sum(1 for _ in robot.answers("modes", cases(0, CASES)))),
        "modes, one by one": (ALONE, lambda: [answer(robot, "modes", case) for case in cases(CASES, ALONE)]),
        "of that, values": (VALUES, lambda: [robot.with_parameters(**case.parameters) for case in cases(-500, VALUES)]),
        "a row of the table": (CASES, lambda: task.done(0, CASES)),
        "the driver": (CASES, lambda: sum(1 for _ in Driver(task, AtOnce()).chunks())),
    }


def compare():
    """Entries of the report: milliseconds a case."""
    with tempfile.TemporaryDirectory() as folder:
        robot = arm(folder)
        list(robot.answers("modes", cases(-2, 2)))
        found = []
        for name, (count, action) in steps(robot).items():
            begun = time.process_time()
            action()
            found.append(
                {"part": "sweeps", "who": name, "cases": count, "ms": 1e3 * (time.process_time() - begun) / count}
            )
        return found
