"""A robot whose answers cost nothing, for what is about sweeps alone, in this process and in others."""

import math
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import kronbot
from kronbot.errors import ComputationError
from kronbot.library import sweep
from kronbot.questions.result import Result

MODEL = kronbot.load("khang").model


@dataclass(frozen=True)
class Cheap:
    """Answers of ``check``: the total mass is EI squared.

    A line of ``log``, with the process, is written for every case that is computed; ``deadly`` cases end their process,
    EI beyond ``much`` is warned of.
    """

    log: str = ""
    deadly: tuple[float, ...] = ()
    once: str = ""
    pause: float = 0.0
    much: float = math.inf

    @property
    def model(self):
        return MODEL

    def answers(self, question, cases):
        for case in cases:
            EI = case.parameters["EI"]
            if self.log:
                with open(self.log, "a") as file:
                    file.write(f"{EI!r} {os.getpid()}\n")
            if self.pause:
                time.sleep(self.pause)
            if EI in self.deadly and not (self.once and Path(self.once).exists()):
                if self.once:
                    Path(self.once).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if EI < 0:
                yield ComputationError(f'EI is {EI:g}, "negative"')
            else:
                told = [f"EI is {EI:g}, much"] * (self.much < EI) + [f"EI passes {EI / 4:g}"] * (2 * self.much < EI)
                yield Result(question, "cheap", "2", summary={"total_mass": EI**2, "links": 3}, warnings=told)

    def check(self):
        """The question."""


def swept(robot, over, workers=2, place=None, draws=(None, 0, False), keep=None, **options):
    """The sweep of a cheap robot."""
    scheduler = options.pop("scheduler", None)
    hands = sweep.Hands(None if scheduler else workers, scheduler)
    return sweep.sweep(robot, "check", over, None, draws, keep, False, {}, hands, place, False, lambda share: None)
