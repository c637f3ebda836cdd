"""Exudyn's side: the arm of canadarm.yaml as ANCF cable elements in a plane, driven by the same torques.

As a script it is the whole process that kronbot's command line is compared with:
python tests/bench/exudyn_arm.py ELEMENTS STEP FILE.csv
"""

import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np

# Table 2 and equation (44) of Mohan and Saha, as in the robot file.
LENGTHS, MASSES, EI = (6.0, 7.0, 2.0), (140.0, 85.0, 95.0), 1e5
RATES, HALF_PERIODS = (0.075, 0.05, 0.1), (10.0, 5.0, 5.0)
DURATION = 10.0
# N; kronbot's beams do not stretch. Its error is that of the meshes taken here (measured: 0.5 % of the deflection, 1 %
# at a third of it), and Newton's method slows down beyond: ten times the time at 1e8 N with four elements.
EA = 3e7


@dataclass(frozen=True)
class Choice:
    """Elements a link, or a digit for each link, and time step (s)."""

    elements: int
    step: float

    @property
    def each(self):
        """Elements of each link."""
        return by_link(self.elements)


def by_link(digits):
    """Numbers of the links: a digit each, or one for all."""
    return [int(each) for each in str(digits)] if digits > 9 else [digits] * len(LENGTHS)


@dataclass(frozen=True)
class Solution:
    """Time (s) of the solution alone, and histories: t (k,), tip deflections and joint angles (3, k each)."""

    seconds: float
    t: np.ndarray
    tips: np.ndarray
    angles: np.ndarray


def motion(t):
    """Joint angles, rates and accelerations (3, k) of the paper's motion."""
    k, T = (np.array(values)[:, None] for values in (RATES, HALF_PERIODS))
    phase = np.pi * np.atleast_1d(t) / T
    return k * (t - T / np.pi * np.sin(phase)), k * (1 - np.cos(phase)), k * np.pi / T * np.sin(phase)


def torques(t):
    """Joint torques (3, k) that move the rigid arm so: slender rods, from the tip inwards."""
    angle, rate, acceleration = (np.cumsum(values, axis=0) for values in motion(t))
    axes = [np.array([np.cos(phi), np.sin(phi)]) for phi in angle]
    joint, centres = np.zeros((2, angle.shape[1])), []
    for a, u, w, alpha in zip(LENGTHS, axes, rate, acceleration, strict=True):
        along = alpha * np.array([-u[1], u[0]]) - w**2 * u
        centres.append(joint + a / 2 * along)
        joint = joint + a * along
    force, moment, found = 0.0, 0.0, []
    for i in (2, 1, 0):
        a, u, inertia = LENGTHS[i], axes[i], MASSES[i] * centres[i]
        moment = moment + MASSES[i] * a**2 / 12 * acceleration[i] + cross(a / 2 * u, inertia) + cross(a * u, force)
        force = force + inertia
        found.insert(0, moment)
    return np.array(found)


def cross(r, f):
    """z-component of a cross product in the plane."""
    return 0.0 if np.isscalar(f) else r[0] * f[1] - r[1] * f[0]


def build(exu, choice):
    """The system in its container, and for every link its place and its first and last node."""
    from exudyn import itemInterface as items

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddNode(items.NodePointGround())
    held = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    # Torques between time steps are never asked for; halves serve a step that is tried again.
    grid = torques(np.arange(0, DURATION + 2 * choice.step, choice.step / 2)).T.tolist()
    per_second = 2 / choice.step

    def torque(joint, sign):
        return lambda mbs, t, load: [0.0, 0.0, sign * grid[int(t * per_second + 0.5)][joint]]

    x, before, ends = 0.0, None, []
    for i, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
        count = choice.each[i]
        part = length / count
        nodes = [
            system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[x + j * part, 0, 1, 0]))
            for j in range(count + 1)
        ]
        cables = [
            system.AddObject(
                items.ObjectANCFCable2D(
                    length=part,
                    massPerLength=mass / length,
                    bendingStiffness=EI,
                    axialStiffness=EA,
                    nodeNumbers=list(pair),
                    useReducedOrderIntegration=1,
                )
            )
            for pair in zip(nodes, nodes[1:], strict=False)
        ]
        for axis in (0, 1):
            own = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=axis))
            last = held if before is None else system.AddMarker(
                items.MarkerNodeCoordinate(nodeNumber=before[0], coordinate=axis)
            )  # fmt: skip
            system.AddObject(items.CoordinateConstraint(markerNumbers=[last, own]))
        acted = [(items.MarkerBodyRigid(bodyNumber=cables[0]), 1.0)]
        if before is not None:
            acted.append((items.MarkerBodyRigid(bodyNumber=before[1], localPosition=[before[2], 0, 0]), -1.0))
        for marker, sign in acted:
            load = items.LoadTorqueVector(
                markerNumber=system.AddMarker(marker),
                loadVector=[0, 0, 0],
                loadVectorUserFunction=torque(i, sign),
            )
            system.AddLoad(load)
        before = nodes[-1], cables[-1], part
        ends.append((x, nodes[0], nodes[-1]))
        x += length
    return container, system, ends


def settings(exu, choice, period):
    """Implicit generalized-alpha with modified Newton, the fastest of what was tried at equal accuracy."""
    chosen = exu.SimulationSettings()
    chosen.timeIntegration.endTime = DURATION
    chosen.timeIntegration.numberOfSteps = round(DURATION / choice.step)
    chosen.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    chosen.timeIntegration.newton.useModifiedNewton = True
    chosen.timeIntegration.verboseMode = 0
    chosen.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    chosen.solution.file.write = False
    chosen.solution.sensors.writePeriod = period
    return chosen


def simulate(choice, *, every_step=False, period=0.05):
    """Build and solve; histories at all steps, or about every ``period`` seconds."""
    sys.exudynFast = True  # its build without range checks
    import exudyn as exu
    from exudyn import itemInterface as items

    _container, system, ends = build(exu, choice)
    sensors = [
        system.AddSensor(
            items.SensorNode(
                nodeNumber=node,
                storeInternal=True,
                writeToFile=False,
                outputVariableType=exu.OutputVariableType.Coordinates,
            )
        )
        for _, *pair in ends
        for node in pair
    ]
    system.Assemble()
    chosen = settings(exu, choice, choice.step / 2 if every_step else period)
    start = time.perf_counter()
    system.SolveDynamic(chosen)
    seconds = time.perf_counter() - start
    data = [system.GetSensorStoredData(sensor) for sensor in sensors]
    return Solution(seconds, data[0][:, 0], *histories(ends, data))


def histories(ends, data):
    """Tip deflections in the frame of each root, and joint angles from tangent to tangent."""
    tips, angles, before = [], [], 0.0
    for (x, *_), length, root, tip in zip(ends, LENGTHS, data[::2], data[1::2], strict=True):
        chord = tip[:, 1:3] + [x + length, 0] - root[:, 1:3] - [x, 0]
        first, last = (values[:, 3:5] + [1, 0] for values in (root, tip))
        axis = first / np.linalg.norm(first, axis=1, keepdims=True)
        tips.append(axis[:, 0] * chord[:, 1] - axis[:, 1] * chord[:, 0])
        here = np.unwrap(np.arctan2(first[:, 1], first[:, 0]))
        angles.append(here - before)
        before = np.unwrap(np.arctan2(last[:, 1], last[:, 0]))
    return np.array(tips), np.array(angles)


def main():
    warnings.simplefilter("ignore")
    elements, step, path = sys.argv[1:]
    found = simulate(Choice(int(elements), float(step)))
    table = np.column_stack([found.t, found.angles.T, found.tips.T])
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,q3,tip1,tip2,tip3", comments="")


if __name__ == "__main__":
    main()
