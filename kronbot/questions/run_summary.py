"""What a person wants to know of a simulation first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from casadi import SX

from kronbot.compute.arrays import Scalar
from kronbot.compute.trace import traced
from kronbot.mechanics.motion.drives import Drives
from kronbot.model.robot import Robot

Array = npt.NDArray[np.float64]


def highlights(robot: Robot, drives: Drives, series: Mapping[str, Array], solver: str) -> dict[str, Scalar]:
    """Energy balance, deflections, deviations from the motion, of the columns of a run at the times it is watched.

    ``energy_drift`` is the largest imbalance by the largest energy of any kind, of gravity from the base frame: what is
    held counts, since its rounding does, and a robot at rest turns nothing over. What ``rodas`` damps of vibrations
    that it steps over is what is missing in the balance at the end.
    """
    largest = max(float(np.abs(series[f"energy.{kind}"]).max()) for kind in ("kinetic", "elastic", "gravity", "work"))
    imbalance = float(np.abs(series["energy.balance"]).max())
    summary: dict[str, Scalar] = {
        "largest_energy": largest,
        "energy_imbalance": imbalance,
        "energy_drift": imbalance / largest if largest else 0.0,
    }
    if solver == "rodas":
        summary["energy_taken_by_solver"] = -float(series["energy.balance"][-1])
    for link in robot.links:
        if link.modes:
            tip = np.array([series[f"tip.{link.name}.{axis}"] for axis in "xyz"])
            summary[f"peak_deflection.{link.name}"] = float(np.linalg.norm(tip, axis=0).max())

    def commanded() -> tuple[dict[str, SX], dict[str, SX]]:
        t = SX.sym("t")
        return {"t": t}, {"t": t} | drives.commanded(t)

    for name, values in traced(robot, "commanded", "simulate", commanded).rows(series["t"]).items():
        if name != "t":
            summary[f"peak_deviation.{name}"] = float(np.abs(series[name] - values[:, 0]).max())
    return summary
