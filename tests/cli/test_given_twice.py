"""Options that are given more than once: nothing is forgotten."""

import click
import pytest
from thinned import rare

from kronbot.cli.commands.sweep import QUESTIONS, command_of
from kronbot.cli.input.option import Option
from kronbot.cli.main import kronbot, run

COMMANDS = [*kronbot.commands.values(), *map(command_of, QUESTIONS)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_of_every_command_knows_what_a_second_one_is(command):
    assert all(isinstance(each, Option) for each in command.params if isinstance(each, click.Option))


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ("kinematics khang --q qa=0.1 --q arm.v1=0.01", "kinematics khang --q qa=0.1,arm.v1=0.01"),
        (
            "taylor khang --terms 1 --delta qa=0.1 --delta arm.v1=0.01",
            "taylor khang --terms 1 --delta qa=0.1,arm.v1=0.01",
        ),
        rare("linearize canadarm --lock q1 --lock q3", "linearize canadarm --lock q1,q3"),
        ("linearize khang --outputs joints --outputs endpoint", "linearize khang --outputs joints,endpoint"),
        ("statics khang --tau qa=0.1", "statics khang --tau=qa=0.1"),
        ("design khang --poles=-1+2j --poles=-20+60j", "design khang --poles=-1+2j,-20+60j"),
        rare("design khang --lqr --weights qa=9 --weights qa_dot=2", "design khang --lqr --weights qa=9,qa_dot=2"),
        ("complexity khang --of inverse --of inertia", "complexity khang --of inverse,inertia"),
    ],
)
def test_parts_of_a_list_count_together(parts, whole, capsys):
    answers = []
    for line in (parts, whole):
        assert run([*line.split(), "--format", "json"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("kinematics khang --q qa=1 --q qa=2", "--q: qa is given twice"),
        ("kinematics khang --q 0.1 --q 0.2", "--q is given twice: only values by name"),
        ("kinematics khang --q qa=0.1 --q @rows.csv", "--q is given twice: only values by name"),
        ("kinematics khang --set EI=1 --set EI=2", "--set: EI is given twice"),
        ("design khang --lqr --weights qa=1 --weights qa=2", "a name stands twice"),
        ("statics khang --forces 0,-1,0 --forces 0,-2,0", "several are written as one, '0,-1,0;0,-2,0'"),
        ("simulate khang --order 1 --order 2", "--order is given twice: leave one out"),
        ("sweep statics khang --cases a.csv --cases b.csv", "--cases is given twice: leave one out"),
        ("kinematics khang -o a.csv --output b.csv", "-o is given twice: leave one out"),
        ("linearize khang --symbolic --symbolic latex", "--symbolic is given twice: leave one out"),
    ],
)
def test_a_second_of_what_there_is_one_is_refused(line, told, capsys):
    assert run(line.split()) == 2
    assert told in capsys.readouterr().err
