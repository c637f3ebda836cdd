"""What order exact costs: operations beside order 2, first answers, and a cantilever that falls beside Exudyn's beams.

The cantilever is straight and level when it is let go, and its tip falls by 0.8 of its length. Exudyn integrates it as
ANCF cables and as geometrically exact beams in a plane, whose axial (and shear) stiffness of 1e5 N stands for what
kronbot leaves out. Errors are root mean squares of the tip's distance from a finer solution by the same program; the
two of these are 1e-4 apart. Those of kronbot are errors of its shapes: integration may be as coarse as these are.
Processor time of the integration alone, since other processes share the machine; kronbot's is compiled, as Exudyn is.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from bench.scaling import environment

DURATION, ROW, EI, EA, GRAVITY = 1.0, 0.02, 2.0, 1e5, 9.81
# Multiplications of forward dynamics, order exact over order 2; seconds of first answers.
RATIOS = {"canadarm": 10, "spatial": 4}
QUESTIONS = {("simulate", "canadarm"): 3.0, ("linearize", "spatial"): 2.0, ("modes", "spatial"): 1.0}
CANTILEVER = f"""
kronbot: 1
name: cantilever
convention: standard
gravity: [0, -{GRAVITY}, 0]
links:
  - name: beam
    joint: {{type: fixed}}
    dh: {{a: 1, d: 0, alpha: 0, theta: 0}}
    flexible: {{mass: 1, EI: {{y: {EI}, z: {EI}}}, modes: {{v: MODES}}, shape: legendre}}
"""
# Solver, shapes, tolerances, whether compiled; elements and steps (s) that are quickest for their errors.
OURS = (
    *(("rodas", 3, 1e-2), ("rodas", 4, 3e-2), ("rodas", 6, 3e-2), ("rodas", 6, 2e-2), ("dop853", 8, 1e-2)),
    *(("rodas", 7, 1e-2), ("rodas", 4, 3e-2, "off"), ("rodas", 6, 2e-2, "off")),
)
THEIRS = (
    *(("ANCF", 8, 1e-2), ("ANCF", 12, 2e-3), ("ANCF", 16, 2e-3), ("ANCF", 20, 1e-3)),
    *(("exact", 16, 4e-3), ("exact", 32, 1e-3), ("exact", 48, 1e-3)),
)
OUR_FINEST, THEIR_FINEST = ("cvodes", 10, 1e-8, "off"), ("ANCF", 64, 1e-4)


def operations():
    """Multiplications of forward dynamics of order exact over those of order 2."""
    import kronbot
    from kronbot.questions.complexity import count

    entries = []
    for name, goal in RATIOS.items():
        found = [count(kronbot.load(name, order=order).model, "forward_recursive") for order in ("2", "exact")]
        second, exact = (each.multiplications for each in found)
        entries.append({"part": "rods", "who": name, "second": second, "exact": exact, "goal": goal})
    return entries


def answers():
    """Processor time (s) of first answers at order exact, loading included; no native code is known before."""
    import kronbot

    entries = []
    for (question, name), goal in QUESTIONS.items():
        with tempfile.TemporaryDirectory() as cache, environment(KRONBOT_CACHE=str(Path(cache) / "cache")):
            start = time.process_time()
            getattr(kronbot.load(name, order="exact"), question)()
            seconds = time.process_time() - start
        entries.append({"part": "rods", "who": f"{question} {name} --order exact", "s": seconds, "goal": goal})
    return entries


def ours(solver, modes, tolerance, native="on"):
    """The integration as an action, and what then gives the tip (rows, 2)."""
    from bench import kronbot_side

    import kronbot

    robot = kronbot.loads(CANTILEVER.replace("MODES", str(modes)), order="exact").model
    motion = kronbot_side.motion(robot, tolerance, tolerance, duration=DURATION, step=ROW, solver=solver, choice=native)
    motion.run()

    return motion.run, lambda: motion.rows()["endpoint"][:, :2]


def theirs(kind, elements, step):
    """The same of Exudyn, whose system is built before; it is solved once."""
    sys.exudynFast = True  # its build without range checks
    warnings.simplefilter("ignore")
    import exudyn as exu
    from exudyn import itemInterface as items

    system, part = exu.SystemContainer().AddSystem(), 1 / elements
    places = [[j * part, 0] for j in range(elements + 1)]
    if kind == "ANCF":
        nodes = [system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[*place, 1, 0])) for place in places]
        stiff = {"massPerLength": 1, "bendingStiffness": EI, "axialStiffness": EA, "useReducedOrderIntegration": 1}
        beams = [
            system.AddObject(items.ObjectANCFCable2D(length=part, nodeNumbers=[a, a + 1], **stiff)) for a in nodes[:-1]
        ]
    else:
        nodes = [system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*place, 0])) for place in places]
        stiff = {"massPerLength": 1, "crossSectionInertia": 1e-6, "bendingStiffness": EI}
        stiff |= {"axialStiffness": EA, "shearStiffness": EA, "includeReferenceRotations": True}
        beams = [
            system.AddObject(items.ObjectBeamGeometricallyExact2D(length=part, nodeNumbers=[a, a + 1], **stiff))
            for a in nodes[:-1]
        ]
    ground = system.AddNode(items.NodePointGround())
    held = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for coordinate in (0, 1, 3 if kind == "ANCF" else 2):
        own = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        system.AddObject(items.CoordinateConstraint(markerNumbers=[held, own]))
    for beam in beams:
        marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=beam))
        system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0, -GRAVITY, 0]))
    position = {"outputVariableType": exu.OutputVariableType.Position, "storeInternal": True, "writeToFile": False}
    sensor = system.AddSensor(items.SensorNode(nodeNumber=nodes[-1], **position))
    system.Assemble()
    chosen = exu.SimulationSettings()
    chosen.timeIntegration.endTime = DURATION
    chosen.timeIntegration.numberOfSteps = round(DURATION / step)
    chosen.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    chosen.timeIntegration.newton.useModifiedNewton = True
    chosen.timeIntegration.verboseMode = 0
    chosen.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    chosen.solution.file.write = False
    chosen.solution.sensors.writePeriod = ROW

    return lambda: system.SolveDynamic(chosen), lambda: system.GetSensorStoredData(sensor)[:, 1:3]


def moved(run, tip):
    """The tip after a run."""
    run()
    return tip()


def error(tip, finer):
    """Root mean square of the distance of two tips (rows, 2)."""
    return float(np.sqrt(((tip - finer) ** 2).sum(axis=1).mean()))


def falling(rounds):
    """Entries of both programs with errors and best processor times (s), and what is missing."""
    cases = [("kronbot", ours, OURS, OUR_FINEST)]
    missing = {}
    try:
        import exudyn  # noqa: F401 - only whether it is there

        cases.append(("Exudyn", theirs, THEIRS, THEIR_FINEST))
    except ImportError as reason:
        missing["exudyn"] = str(reason)
    entries = []
    for program, make, choices, finest in cases:
        finer = moved(*make(*finest))
        for choice in choices:
            seconds = []
            for _ in range(rounds):
                run, tip = make(*choice)
                start = time.process_time()
                run()
                seconds.append(time.process_time() - start)
            who = f"{program}, {', '.join(map(str, choice))}"
            entries.append({"part": "rods", "who": who, "error": error(tip(), finer), "s": min(seconds)})
    return entries, missing
