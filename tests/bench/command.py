"""The command line of the benchmarks.

    python -m venv bench-environment
    bench-environment/bin/pip install -e . -r tests/bench/requirements.txt
    bench-environment/bin/python tests/bench/run.py                    # all parts, some minutes
    bench-environment/bin/python tests/bench/run.py puma --json out.json

Prints Markdown tables of times and of ratios with quartiles over interleaved rounds. A program that is not installed is
told and left out. The first run also compiles the loops in C and C++ and kronbot's native code; later ones find them.
"""

import argparse
import json
import statistics
from pathlib import Path

from bench import machine


def puma(options):
    from bench import puma as part

    entries, missing = part.compare(options.states, options.rounds, options.whole)
    for way, title in (("batch", f"Puma 560, {options.states} states, one thread"), ("call", "Puma 560, one call")):
        rows = [entry for entry in entries if entry["way"] == way]
        columns = {
            "task": lambda e: e["task"],
            "program": lambda e: e["who"],
            "us (median)": lambda e: f"{e['median_us']:.3g}",
            "us (best)": lambda e: f"{e['best_us']:.3g}",
            "times kronbot's": ratio,
        }
        if way == "batch":
            columns["largest difference"] = lambda e: f"{e['difference']:.1e}" + ("" if e["equal"] else " (not equal)")
        table(title, columns, rows)
    return entries, missing


def shares(options):
    from bench import shares as part

    entries, missing = part.compare(options.states, options.rounds)
    columns = {"task": lambda e: e["task"], "bytes": lambda e: str(e["bytes"])}
    for name in (*part.VARIANTS, "sincos alone", "filling alone"):
        columns[f"{name}, ns"] = lambda e, name=name: f"{e[name]:.3g}"
    table(f"Puma 560, {options.states} states in lanes, a state", columns, entries)
    return entries, missing


def canadarm(options):
    from bench import canadarm as part

    entries, pairs, missing = part.compare(options.rounds)
    columns = {
        "program": lambda e: e["who"],
        "s (median)": seconds,
        "s (best)": lambda e: f"{e['best_s']:.3g}",
        "error of deflections": lambda e: f"{e['error']:.2%}",
        "of that, integration": lambda e: f"{e['integration_error']:.1e}",
        "error of angles, rad": lambda e: f"{e['angle_error']:.1e}",
    }
    table("Canadarm, 10 s, integration alone", columns, entries)
    columns = {
        "Exudyn": lambda e: e["exudyn"].removeprefix("Exudyn, "),
        "the fastest that is no less accurate": lambda e: e["kronbot"],
        "by the error of": lambda e: "the integration" if e["by"] == "integration_error" else "everything",
        "Exudyn's time by kronbot's": lambda e: spread(e["median"], e["quartiles"]),
    }
    table("Canadarm, at equal accuracy", columns, pairs)
    return [*entries, *({"part": "canadarm pairs"} | pair for pair in pairs)], missing


def processes(options):
    from bench import canadarm as part

    entries, missing = part.processes(options.rounds)
    columns = {"program": lambda e: e["who"], "s (median)": seconds, "s (best)": lambda e: f"{e['best_s']:.3g}"}
    table("Canadarm (craig-bampton, rtol 1e-6), 10 s, whole process with output", columns, entries)
    return entries, missing


def startup(options):
    from bench import startup as part

    entries, missing = part.compare(options.rounds)
    columns = {
        "process": lambda e: f"`{e['who']}`",
        "s (median)": seconds,
        "times the bare import": ratio,
        "times Exudyn's": lambda e: spread(**e["by_exudyn"]) if e["by_exudyn"] else "",
    }
    table("Start, processor time of whole processes", columns, entries)
    return entries, missing


def pages(options):
    from bench import pages as part

    entries, missing = part.compare(options.rounds)
    columns = {
        "page of a simulation": lambda e: e["who"],
        "MB": lambda e: f"{e['bytes'] / 1e6:.2f}",
        "s to write, the first": lambda e: f"{e['written_s']:.2f}",
        "of that, of a processor": lambda e: f"{e['worked_s']:.2f}",
        "s to the first picture": lambda e: f"{e['first_picture_s']:.2f}",
        "of processors": lambda e: "" if e["opened_s"] is None else f"{e['opened_s']:.2f}",
        "pictures a second": lambda e: f"{e['pictures_a_second']:.0f}",
        "ms of processors a picture": lambda e: "" if e["picture_s"] is None else f"{1e3 * e['picture_s']:.1f}",
    }
    table("Pages, drawn by software in 1200 x 800", columns, entries)
    return entries, missing


def questions(options):
    from bench import questions as part

    entries = part.compare(options.before, options.rounds)
    columns = {
        "second answer, or process": lambda e: e["who"],
        "ms (best)": lambda e: f"{1e3 * e['best_s']:.3g}",
        "before, ms": lambda e: "" if e["before_s"] is None else f"{1e3 * e['before_s']:.3g}",
        "times that": lambda e: "" if e["ratio"] is None else f"{e['ratio']:.3g}",
        "goal, ms": lambda e: "" if e["goal_s"] is None else f"{1e3 * e['goal_s']:.3g}",
    }
    table("Questions with other values", columns, entries)
    return entries, {}


def sweeps(options):
    from bench import sweeps as part

    entries = part.compare()
    columns = {"a case of a sweep": lambda e: e["who"], "cases": lambda e: str(e["cases"])}
    columns["ms"] = lambda e: f"{e['ms']:.3g}"
    table("Sweeps of modes of a planar arm, processor time", columns, entries)
    return entries, {}


def campaigns(options):
    from bench import campaigns as part

    sizes = part.Sizes(options.cases, options.loop, options.runs or 40, tuple(options.counts))
    entries = part.compare(sizes, options.rounds)
    whole_sweeps("Whole sweeps", entries)
    return entries, {}


def variation(options):
    from bench import campaigns as part

    entries, missing = part.variation(options.runs or 400, options.rounds)
    whole_sweeps("Sweeps of simulations of the Canadarm", entries)
    return entries, missing


def whole_sweeps(title, entries):
    columns = {
        "sweeps": lambda e: e["who"],
        "cases": lambda e: str(e["cases"]),
        "times": lambda e: f"{statistics.median(e['ratios']):.3g} ({min(e['ratios']):.3g} to {max(e['ratios']):.3g})",
        "ms a case": lambda e: f"{e['ms']:.3g}",
        "MB": lambda e: "" if e["MB"] is None else f"{e['MB']:.0f}",
    }
    table(title, columns, entries)


def derivation(options):
    from bench import derivation as part

    entries, missing = part.compare(options.rounds)
    columns = {
        "planar arm, links": lambda e: str(e["links"]),
        "program": lambda e: e["who"],
        "s (median)": seconds,
        "times kronbot's": ratio,
    }
    table("Equations of motion as formulas", columns, entries)
    return entries, missing


def scaling(options):
    from bench import scaling as part

    entries = part.compare(options.rounds)
    columns = {
        "links": lambda e: str(e["links"]),
        "algorithm": lambda e: e["who"],
        "instructions": lambda e: str(e["instructions"]),
        "us (median), interpreted": lambda e: f"{e['median_us']:.3g}",
        "times the recursion's": ratio,
    }
    table("Forward dynamics of chains, 2 modes a link", columns, entries)
    return entries, {}


def large(options):
    from bench import scaling as part

    entries = part.large()
    columns = {
        "robot": lambda e: e["who"],
        "coordinates": lambda e: str(e["coordinates"]),
        "trace": lambda e: f"{e['trace_s']:.2f}",
        "first linearize": lambda e: f"{e['linearize_s']:.2f}",
    }
    for solver in ("cvodes", "dop853"):
        columns |= {
            f"{solver}: steps": lambda e, solver=solver: str(e[f"{solver} steps"]),
            f"{solver}, interpreted": lambda e, solver=solver: f"{e[f'{solver} off_s']:.3f}",
            f"{solver}, compiled": lambda e, solver=solver: f"{e[f'{solver} on_s']:.3f}",
            f"{solver}, to compile": lambda e, solver=solver: f"{e[f'{solver} on, made_s']:.1f}",
            f"{solver}, instructions": lambda e, solver=solver: f"{e[f'{solver} instructions']:,}",
            f"{solver}, that differ": lambda e, solver=solver: f"{e[f'{solver} differ']:,}",
        }
    table(f"Large robots, s of a processor; motions of {part.DURATION} s at {part.RTOL:g}", columns, entries)
    return entries, {}


def identification(options):
    from bench import identification as part

    entries, missing = part.compare(options.rounds)
    columns = {
        "program": lambda e: e["who"],
        "s (median)": seconds,
        "times kronbot's": ratio,
        "estimates differ by, standard errors": lambda e: f"{e['off']:.2g}",
    }
    table("Twelve parameters of an arm from a record of 10 s", columns, entries)
    return entries, missing


def rods(options):
    from bench import rods as part

    counted, answered = part.operations(), part.answers()
    falling, missing = part.falling(options.rounds)
    columns = {
        "forward dynamics": lambda e: e["who"],
        "multiplications, order 2": lambda e: f"{e['second']:,}",
        "order exact": lambda e: f"{e['exact']:,}",
        "times": lambda e: f"{e['exact'] / e['second']:.1f}",
        "goal": lambda e: f"{e['goal']}",
    }
    table("Order exact beside order 2", columns, counted)
    columns = {"first answer": lambda e: f"`{e['who']}`", "s": lambda e: f"{e['s']:.2f}"}
    table("Order exact, processor time", columns | {"goal, s": lambda e: f"{e['goal']:.0f}"}, answered)
    columns = {"program": lambda e: e["who"], "error, m": lambda e: f"{e['error']:.1e}", "s": lambda e: f"{e['s']:.3f}"}
    table("A cantilever that falls, processor time of the integration", columns, falling)
    return [*counted, *answered, *falling], missing


PARTS = {
    each.__name__: each
    for each in (
        *(puma, shares, canadarm, processes, startup, pages, questions),
        *(sweeps, campaigns, variation, derivation, scaling, large, identification, rods),
    )
}


def seconds(entry):
    return f"{entry['median_s']:.3g}"


def ratio(entry):
    return spread(entry["ratio"], entry["quartiles"])


def spread(median, quartiles):
    """Both."""
    return f"{median:.3g} ({quartiles[0]:.3g} to {quartiles[1]:.3g})"


def table(title, columns, rows):
    """A Markdown table on standard output."""
    if not rows:
        return
    print(f"\n**{title}**\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(show(row) for show in columns.values())} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds of everything (default: 5)")
    parser.add_argument("--states", type=int, default=10_000, help="states of a batch (default: 10000)")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="compile all of Pinocchio for this processor (-O3 -march=native) beside its library as shipped: minutes",
    )
    parser.add_argument("--cases", type=int, default=10_000, help="of a campaign of modes (default: 10000)")
    parser.add_argument("--loop", type=int, default=5, help="commands of a loop beside it (default: 5)")
    parser.add_argument(
        "--runs",
        type=int,
        default=40,
        help="of a campaign of simulations (default: 40; variation: 400)",
    )
    parser.add_argument(
        "--counts",
        type=int,
        nargs="+",
        default=[1_000, 10_000],
        help="cases whose costs are compared",
    )
    parser.add_argument("--before", type=Path, help="another version of kronbot, whose answers are timed in turns")
    parser.add_argument("--json", type=Path, help="write everything there")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    about, entries, missing = machine.describe(), [], {}
    versions = ", ".join(f"{name} {each or 'missing'}" for name, each in about["packages"].items())
    print(f"{about['processor']}, {about['cores']} cores (load {about['load']}), Python {about['python']}; {versions}")
    for part in options.parts or PARTS:
        found, lacking = PARTS[part](options)
        entries += found
        missing |= lacking
    for name, reason in missing.items():
        print(f"\nmissing: {name}: {reason}")
    if options.json is not None:
        report = {"machine": about, "rounds": options.rounds, "missing": missing, "entries": entries}
        options.json.write_text(json.dumps(machine.plain(report), indent=1) + "\n")
