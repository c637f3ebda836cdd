"""The question ``statics``: the sweep of the file or another one, with other loads, torques and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kronbot.description.choices import STATIC_SOLVERS
from kronbot.description.wording import listing
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.arguments import NumberLike
from kronbot.library.loads import Loads, on_beams, on_frames
from kronbot.library.values import Values, by_index, by_joint, indices_of, joint_values, outputs_of, points
from kronbot.mechanics.multibody.kinematics import demand_told_apart
from kronbot.mechanics.static.equilibria import Given
from kronbot.model.robot import Robot
from kronbot.questions.load_cases import Sweep, calibration_angles
from kronbot.questions.static_report import Inquiry

Vectors = Sequence[Sequence[NumberLike]]
NEWTON = Argument("solver", "newton")


def inquiry(
    robot: Robot,
    *,
    q: Values | None = None,
    angles: Mapping[str, Sequence[NumberLike]] | None = None,
    forces: Vectors | None = None,
    moments: Vectors | None = None,
    loads: Loads | None = None,
    distributed: Loads | None = None,
    tau: Values | None = None,
    calibration: Values | None = None,
    solver: str = STATIC_SOLVERS[0],
    outputs: object = (),
) -> Inquiry:
    """The sweep that these values ask for; the file's where they are silent.

    ``q`` places joints (those it names are not swept, also not by ``angles``; the others keep the file's sweep; rows of
    it are the postures of the sweep), ``angles`` replaces the file's sweep, ``forces`` or ``moments`` its loads on the
    endpoint; ``loads`` and ``distributed`` come on top. Modal coordinates of ``q`` are where the search for those of an
    equilibrium begins.
    Joints with a torque in ``tau`` are free. Raises UsageError for names that are not there and values that do not fit.
    """
    method = arguments.choice(solver, STATIC_SOLVERS, "solver")
    places, batch = points(robot, {"q": q})
    torques = by_joint(robot, tau, "tau")
    if torques and method == "linear":
        raise UsageError("the linear solver is about given angles: leave out ", Argument("tau"), ", or take ", NEWTON)
    if method == "linear" and (places["q"] != robot.undeformed(places["q"])).any():
        cure = "give joints, and where its base is, only, or take " if robot.base else "give joints only, or take "
        raise UsageError("the linear solver finds deflections from straight beams: ", cure, NEWTON)
    rows = {} if angles is None else arguments.pairs(angles, "angles")
    swept = {
        name: _angles(robot, place, row, f"angles of {name}")
        for (name, row), place in zip(rows.items(), indices_of(robot, list(rows), "angles"), strict=True)
    }
    file = Sweep.of_file(robot)
    if batch and swept:
        raise UsageError("rows are the postures of the sweep: leave out ", Argument("angles"), ", or the rows")
    if arguments.is_named(q) and (both := swept.keys() & arguments.pairs(q, "q").keys()):
        cure = f" both place {listing(sorted(both))}: leave it out of one of them"
        raise UsageError(Argument("q"), " and ", Argument("angles"), cure)
    kept = {}
    if file.angles and not swept:
        placed = range(robot.n) if batch else by_index(robot, q, "q")
        named = {joint.name for joint in robot.joints if {joint.index, joint.driven}.intersection(placed)}
        kept = {name: row for name, row in file.angles.items() if name not in named}
    if forces is None and moments is None:
        sweep = Sweep(kept | swept, file.forces, file.moments)
    else:
        sweep = Sweep(kept | swept, _vectors(robot, forces, "forces"), _vectors(robot, moments, "moments"))
    given = Given(
        on_frames(robot, loads),
        on_beams(robot, distributed),
    )
    zero = joint_values(robot, calibration, "calibration")
    if zero is not None and not robot.file.statics.gauges:
        raise UsageError(Argument("calibration"), " sets gauges to zero, of which the file has none: leave it out")
    if zero is None and robot.file.statics.calibration is not None:
        zero = calibration_angles(robot, robot.file.statics.calibration)
    return Inquiry(sweep.cases(robot, places["q"], torques), method, zero, given, outputs_of(robot, outputs))


def _angles(robot: Robot, place: int, row: object, word: str) -> list[float]:
    found = arguments.array(arguments.entries(row, word), robot.description.values, word, 1)
    if not len(found):
        raise UsageError(Argument(word), ": no value is given")
    demand_told_apart(robot, found[:, None], [place], Argument("angles"))
    return [float(value) for value in found]


def _vectors(robot: Robot, rows: Vectors | None, word: str) -> list[list[float]]:
    found = [] if rows is None else arguments.entries(rows, word)
    if len(found) == 3 and not any(map(arguments.is_list, found)):
        raise UsageError(Argument(word), ": a list of vectors is wanted, [[x, y, z]] where there is one")
    if rows is not None and not found:
        raise UsageError(Argument(word), ": none is no case; [[0, 0, 0]] is a case without")
    return [arguments.numbers(row, robot.description.values, word, (3,)) for row in found]
