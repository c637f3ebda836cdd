"""The question ``statics``: the sweep of the file or another one, with other loads, torques and calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kronbot.description import schema
from kronbot.description.choices import ORDERS
from kronbot.description.wording import did_you_mean, quote
from kronbot.errors import Argument, UsageError
from kronbot.library import arguments
from kronbot.library.arguments import Scalar
from kronbot.library.values import Values, by_place, joint_values, joints_only, places_of, points
from kronbot.mechanics.multibody.kinematics import frame
from kronbot.mechanics.static.equilibria import Given
from kronbot.model.robot import Robot
from kronbot.questions import statics
from kronbot.questions.comparison import side_by_side
from kronbot.questions.load_cases import Sweep, calibration_angles
from kronbot.questions.result import Outcome
from kronbot.questions.statics import Inquiry

Vectors = Sequence[Sequence[Scalar]]
NEWTON = Argument("solver", "newton")
Loads = Iterable[tuple[str, object]]


@dataclass(frozen=True)
class Asked:
    """A sweep for one robot: the loads and gauges of its file, the cases, and what acts in all of them."""

    robot: Robot
    entry: schema.Statics
    inquiry: Inquiry

    def answer(self, progress: Callable[[float], None]) -> Outcome:
        """Equilibria of all cases, or of those before the first that has none."""
        return statics.statics(self.robot, self.entry, self.inquiry, progress)

    def side_by_side(self, progress: Callable[[float], None]) -> Outcome:
        """The same cases at every kinematic order, and their differences."""
        return side_by_side(statics.at_orders(self.robot, self.entry, self.inquiry, ORDERS, progress))

    def with_buckling(self, progress: Callable[[float], None]) -> Outcome:
        """The answer to one case with its buckling factor."""
        return statics.with_buckling(self.robot, self.entry, self.inquiry, progress)


def ask(
    robot: Robot,
    q: Values | None,
    angles: Mapping[str, Sequence[Scalar]],
    forces: Vectors | None,
    moments: Vectors | None,
    loads: Loads,
    distributed: Loads,
    tau: Values | None,
    calibration: Values | None,
    solver: str,
) -> Asked:
    """The sweep that these values ask for; the file's where they are silent.

    ``q`` places joints (those it names are not swept, the others keep the file's sweep; rows of it are the postures of
    the sweep), ``angles`` replaces the file's sweep, ``forces`` or ``moments`` its loads on the endpoint; ``loads`` and
    ``distributed`` come on top. Modal coordinates of ``q`` are where the search for those of an equilibrium begins.
    Joints with a torque in ``tau`` are free. Raises UsageError for names that are not there and values that do not fit.
    """
    places, batch = points(robot, {"q": q})
    torques = joints_only(robot, by_place(robot, tau, "tau"), "tau")
    if torques and solver == "linear":
        raise UsageError("the linear solver is about given angles: leave out ", Argument("tau"), ", or take ", NEWTON)
    if solver == "linear" and places["q"][:, list(robot.flexible)].any():
        raise UsageError("the linear solver finds deflections from straight beams: give joints only, or take ", NEWTON)
    rows = arguments.pairs(angles, "angles")
    places_of(robot, list(rows), "angles")
    swept = {name: _angles(robot, row, f"angles of {name}") for name, row in rows.items()}
    of_file = Sweep.of_file(robot)
    if batch and swept:
        raise UsageError("rows are the postures of the sweep: leave out ", Argument("angles"), ", or the rows")
    placed = range(robot.n) if batch else by_place(robot, q, "q")
    named = {joint.name for joint in robot.joints if joint.index in placed}
    kept = {name: row for name, row in of_file.angles.items() if name not in named and not swept}
    if forces is None and moments is None:
        sweep = Sweep(kept | swept, of_file.forces, of_file.moments)
    else:
        sweep = Sweep(kept | swept, _vectors(robot, forces, "forces"), _vectors(robot, moments, "moments"))
    entry = robot.file.statics or schema.Statics()
    given = Given([_load(robot, *each) for each in loads], [_distributed(robot, *each) for each in distributed])
    zero = joint_values(robot, calibration, "calibration")
    if zero is None and entry.calibration is not None:
        zero = calibration_angles(robot, entry.calibration)
    cases = sweep.cases(robot, places["q"], torques)
    return Asked(robot, entry, Inquiry(cases, solver, zero, given))


def _angles(robot: Robot, row: object, word: str) -> list[float]:
    found = arguments.array(arguments.entries(row, word), robot.description.values, word, 1)
    if not len(found):
        raise UsageError(f"{word}: no value is given")
    return [float(value) for value in found]


def _vectors(robot: Robot, rows: Vectors | None, word: str) -> list[list[float]]:
    found = [] if rows is None else arguments.entries(rows, word)
    if len(found) == 3 and not any(map(arguments.is_list, found)):
        raise UsageError(f"{word}: a list of vectors is wanted, [[x, y, z]] where there is one")
    return [arguments.numbers(row, robot.description.values, word, (3,)) for row in found]


def _load(robot: Robot, name: str, row: object) -> tuple[str, list[float]]:
    frame(robot, name)
    numbers = arguments.numbers(row, robot.description.values, f"load on {name}", (3, 6))
    return name, [*numbers, 0.0, 0.0, 0.0][:6]


def _distributed(robot: Robot, link: str, row: object) -> tuple[str, list[float]]:
    beams = [each.name for each in robot.links if each.beam is not None]
    if link not in beams:
        hint = did_you_mean(link, beams) or f"; flexible links are {', '.join(beams) or 'none'}"
        raise UsageError(f"distributed: no flexible link {quote(link)}{hint}")
    return link, arguments.numbers(row, robot.description.values, f"distributed load on {link}", (3,))
