"""Operation counts: what is counted, below Table 1, linear in the links and cubic in the modes of one."""

import json

import casadi
import numpy as np
import pytest
from casadi import SX
from click.testing import CliRunner
from robots_in_tests import model
from thinned import rare

import kronbot
from kronbot.cli.commands.complexity import complexity as command
from kronbot.errors import ComputationError, UsageError
from kronbot.questions.complexity import (
    FUNCTIONS,
    KINDS,
    Chains,
    Operations,
    chain,
    complexity,
    count,
    operations,
    table1,
)


def forward(links, modes, order="1"):
    return count(chain(links, modes, order), "forward_recursive")


def asked(*arguments):
    """The command's answer as the object of its JSON."""
    done = CliRunner().invoke(command, [*arguments, "--format", "json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_every_kind_of_instruction_is_counted_once():
    x, y = SX.sym("x"), SX.sym("y")
    shared = x * y
    outputs = casadi.vertcat(shared + x, shared - y, -x, 2 * y, x**2, x / y, 1 / x, x.sqrt(), x.sin(), x.exp(), 3)
    expected = Operations(multiplications=2, divisions=2, additions=4, square_roots=1, functions=2)
    assert operations(casadi.Function("f", [x, y], [outputs])) == expected


def test_table_1_as_printed():
    """Its example at 8 links and 2 modes; Cyril's column needs the sign of the errata, and keeps a third too much."""
    table = table1(8, 2)
    assert table["mohan_saha"] == {"multiplications": 9874, "additions": 7699}
    assert table["jain_rodriguez"] == {"multiplications": 10568, "additions": 8344}
    assert table["cyril"]["multiplications"] == pytest.approx(13990 + 1 / 3)
    assert table["cyril"]["additions"] == pytest.approx(12683 + 1 / 3)
    # The branches of few links: 937 multiplications for each.
    assert table1(6, 2)["jain_rodriguez"]["multiplications"] == 6 * 937


def test_fewer_operations_than_table_1():
    """Its model with general angles, divisions counted as multiplications: 60 % and 68 %; a tenth of slack."""
    found, table = forward(8, 2), table1(8, 2)["mohan_saha"]
    assert found.multiplications + found.divisions < 0.61 * table["multiplications"]
    assert found.additions < 0.69 * table["additions"]
    assert found.divisions <= 5 * 8  # one for each coordinate


@pytest.mark.parametrize(
    ("function", "lengths"),
    [
        rare("inverse", (2, 3, 10)),
        ("jacobian", (2, 3, 10)),
        rare("forward_recursive", (2, 3, 12)),
    ],
)
def test_growth_is_linear_in_the_links(function, lengths):
    """Each further link costs the same, to 12 links."""
    counts = [np.array(list(vars(count(chain(n, 1, "1"), function)).values())) for n in lengths]
    step = counts[1] - counts[0]
    for n, found in zip(lengths[2:], counts[2:], strict=True):
        assert found.tolist() == (counts[0] + (n - lengths[0]) * step).tolist()
    assert step[0] > 0


@pytest.mark.slow
def test_growth_is_cubic_in_the_modes_of_one_link_only():
    """A polynomial of degree 3 in the modes m a direction: (2 m)^3/6 for each link but the first, which is clamped."""
    for links, most in ((2, 5), (3, 5)):
        found = [forward(links, m) for m in range(2, most + 1)]
        for kind in ("multiplications", "additions"):
            counts = [getattr(each, kind) for each in found]
            assert np.diff(counts, 3).tolist() == [8 * (links - 1)] * (most - 4)


@pytest.mark.slow
def test_second_order_costs_less_than_twice_the_first():
    """Foreshortening is integrated once and for all; summed at the nodes of a quadrature it makes 3.8 times as many."""
    assert forward(4, 2, "2").multiplications < 2 * forward(4, 2, "1").multiplications


PLANAR = """
kronbot: 1
name: planar
convention: standard
gravity: [0, -9.81, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 1.2, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 2, EI: {y: 70, z: 50}, modes: {v: 2}}
    hub: {mass: 0.3, com: [0.02, 0.01, OFFSET], inertia: INERTIA}
  - name: forearm
    joint: {type: revolute, name: q2}
    dh: {a: 0.8, d: 0, alpha: 0, theta: 0}
    flexible: {mass: 1.5, EI: {y: 60, z: 40}, modes: {v: 2}}
    payload: {mass: 0.7, com: [0.03, 0.02, OFFSET], inertia: INERTIA}
"""


DYNAMICS = ("forward_recursive", "forward_composite", "inverse", "inertia")


@pytest.mark.parametrize(
    ("order", "functions"),
    [rare("1", DYNAMICS), ("2", DYNAMICS), rare("exact", DYNAMICS[-2:])],
)
def test_planar_robots_stay_planar(order, functions):
    """Masses off the plane and inertia about axes in it are in no instruction."""
    text = PLANAR.replace("v: 2", "v: 1") if order == "exact" else PLANAR  # each instruction along the rod is many
    flat = text.replace("INERTIA", "{Izz: 0.05}").replace("OFFSET", "0")
    deep = text.replace("INERTIA", "{Ixx: 0.07, Iyy: 0.06, Izz: 0.05, Ixz: 0.01, Iyz: 0.02}").replace("OFFSET", "0.1")
    for function in functions:
        assert count(model(deep, order), function) == count(model(flat, order), function)


def test_products_of_parameters_are_not_counted():
    """Numbers may be written as lengthy expressions; parameters without a value are counted as what they are."""
    plain = PLANAR.replace("INERTIA", "{Izz: 0.05}").replace("OFFSET", "0")
    lengthy = plain.replace("0.3", "sqrt(0.09)*(2 - 1)").replace("a: 1.2", "a: exp(0.2)*1.1*cos(0.3)")
    assert count(model(lengthy, "1"), "inverse") == count(model(plain, "1"), "inverse")
    free = count(kronbot.load("stacker").model, "inertia")
    assert free.multiplications > 0


def test_dense_functions_and_singular_inertias_are_refused():
    with pytest.raises(UsageError, match="up to 200 coordinates, not 205; ask for functions forward_recursive,inverse"):
        complexity(kronbot.load("canadarm").model, ["forward_composite"], Chains([41], [2]), lambda share: None)
    limp = PLANAR.replace("INERTIA", "{Izz: 0.05}").replace("OFFSET", "0").replace("v: 2}", "v: 2, torsion: 1}, GJ: 5")
    with pytest.raises(ComputationError, match="polar_inertia"):
        count(model(limp), "forward_recursive")


def test_the_command_counts_the_robot():
    answer = asked("canadarm", "--order", "1")
    table = answer["arrays"]["operations"]
    assert table["rows"] == list(FUNCTIONS)
    assert table["columns"] == list(KINDS)
    robot = kronbot.load("canadarm", order="1").model
    assert table["values"] == [list(vars(count(robot, function)).values()) for function in FUNCTIONS]
    assert answer["summary"] == {"links": 3, "coordinates": 9}
    assert "series" not in answer


@pytest.mark.slow
def test_the_command_counts_chains_beside_table_1():
    """All pairs of the two ranges, links running faster; one range alone takes the other from the table's example."""
    series = asked("puma560", "--order", "1", "--links", "1..2", "--modes", "1..2", "--of", "forward_recursive")[
        "series"
    ]
    assert series["links"] == [1, 2, 1, 2]
    assert series["modes"] == [1, 1, 2, 2]
    assert series["forward_recursive.additions"] == [forward(n, m).additions for m in (1, 2) for n in (1, 2)]
    assert series["table1.mohan_saha.additions"] == [
        table1(n, m)["mohan_saha"]["additions"] for m in (1, 2) for n in (1, 2)
    ]
    alone = asked("puma560", "--links", "1", "--of", "inverse")["series"]
    assert (alone["links"], alone["modes"]) == ([1], [2])


@pytest.mark.parametrize("wrong", ["3..1", "0..4", "1..129", "x", "1...2", "-1", "2.5", ""])
def test_wrong_ranges_are_usage_errors(wrong):
    done = CliRunner().invoke(command, ["canadarm", f"--links={wrong}"])
    assert done.exit_code == 2
    assert "--links" in done.output


def test_unknown_functions_are_named():
    for names, message in (("jacobain", "jacobian"), (",", "nothing to count")):
        with pytest.raises(UsageError, match=message):
            CliRunner().invoke(command, ["canadarm", "--of", names], catch_exceptions=False)


def test_why_two_rows_are_equal_is_told():
    """Joints that follow others leave one algorithm, which answers for both."""
    link = "dh: {a: 1.1, d: 0, alpha: 0, theta: 0}, rigid: {mass: 1.2, inertia: {Izz: 0.1}}}"
    text = f"""
kronbot: 1
name: pair
convention: standard
gravity: [0, -9.81, 0]
links:
  - {{name: a, joint: {{type: revolute, name: q1}}, {link}
  - {{name: b, joint: {{type: revolute, name: q2FOLLOWS}}, {link}
"""
    following = kronbot.loads(text.replace("FOLLOWS", ", follows: -q1"))
    answer = following.complexity("forward_recursive", "forward_composite", "inverse")
    rows = answer["operations"]
    assert (rows[0] == rows[1]).all()
    assert [word in answer.warnings[0] for word in ("follow", "forward_recursive is forward_composite")] == [True, True]
    assert not following.complexity("forward_composite", "inverse").warnings
    assert not kronbot.loads(text.replace("FOLLOWS", "")).complexity("forward_recursive").warnings
