"""Sweeps of the library: rows are those of single questions, in order, whoever computes them."""

import copy
import pickle
import shutil
from importlib.resources import files

import numpy as np
import pytest
from thinned import rare

import kronbot
from kronbot.compute.native import policy
from kronbot.compute.native.compiling import COMPILERS
from kronbot.errors import ComputationError, Interrupted, KronbotError, UsageError
from kronbot.mechanics.motion.one_step import Abreast
from kronbot.sweeps.work import Case

pytestmark = pytest.mark.usefixtures("swept_here")


@pytest.fixture(scope="module")
def arm():
    return kronbot.load("khang")


def test_rows_are_the_answers_of_single_questions(arm):
    swept = arm.sweep("modes", over={"EI": "20:40:3", "qa": [0, 0.2]}, workers=1)
    rows = list(swept)
    assert [row["case"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for row in rows:
        alone = arm.with_parameters(EI=row["EI"]).modes(q={"qa": row["qa"]})
        assert row["frequencies_free[2]"] == alone["frequencies_free"][1]
        assert row["error"] is None
    table = swept.result()
    assert table["frequencies_locked[1]"].tolist() == [row["frequencies_locked[1]"] for row in rows]
    assert table.summary["cases"] == 6 and table.summary["failed"] == 0


@pytest.mark.slow
def test_plans_of_many_cases(tmp_path, monkeypatch):
    """Places on the way go with the sweep, wherever their file is; what is told of a search that has no
    time is in no row."""
    arm = kronbot.load("khang", order="0")
    (tmp_path / "via.csv").write_text("t,qa\n0.4,0.25\n")
    monkeypatch.chdir(tmp_path)
    asked = {"to": {"qa": 0.3}, "drive": "motion", "through": "via.csv", "workers": 1}
    swept = arm.sweep("plan", over={"duration": [0.8, 1]}, **asked, output=str(tmp_path / "plans") + "/")
    alone = arm.plan({"qa": 0.3}, duration=1, drive="motion", through="via.csv")
    assert swept.header[2:5] == ["intervals", "iterations", "end_error"] and "between_error" not in swept.header
    assert [row["end_error"] for row in swept][1] == alone.summary["end_error"]
    held = np.load(tmp_path / "plans" / "2.npz")
    assert all((held[name] == alone[name]).all() for name in ("t", "qa", "torque.qa"))
    again = arm.sweep("plan", over={"duration": [0.8, 1]}, **asked, output=str(tmp_path / "plans") + "/", resume=True)
    assert again.finished
    hurried = arm.sweep("plan", over={"duration": [1]}, to={"qa": 0.3}, seconds=1e-9, workers=1)
    told = "1e-09 s were over, before there was any answer: more seconds"
    assert [row["error"] for row in hurried] == [told]


def test_a_sweep_that_was_interrupted_begins_anew(arm):
    """Of what has failed otherwise the error is remembered, and nothing computed again."""
    left, told = [3], []

    def progress(share):
        told.append(share)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    swept = arm.sweep("modes", over={"EI": "20:40:9"}, workers=1, progress=progress)
    with pytest.raises(Interrupted, match="interrupted after . of 9 cases"):
        list(swept)
    assert [row["case"] for row in swept] == list(range(1, 10)) and len(swept["EI"]) == 9
    strict = arm.sweep("modes", over={"EI": [-1, 20, 30]}, workers=1, strict=True, progress=told.append)
    for count in (1, 0):
        told.clear()
        with pytest.raises(ComputationError, match="1 of 3 cases have failed"):
            list(strict)
        assert (len(told) > 0) == count


def test_columns_by_name_are_those_of_the_table(arm):
    """As of every answer; a name that nothing has is refused before anything is computed."""
    swept = arm.sweep("modes", over={"EI": "20:40:3"}, keep="frequencies_locked[1]", workers=1)
    with pytest.raises(KeyError, match=r"no column 'frequency'.*frequencies_locked\[1\]"):
        swept["frequency"]
    assert "_kept" not in vars(swept)
    assert "EI" in swept and "EJ" not in swept and 3 not in swept
    assert swept["EI"].tolist() == [20, 30, 40]
    assert swept["frequencies_locked[1]"].base is swept["frequencies_locked[1]"].base
    assert swept["frequencies_locked[1]"].tolist() == [row["frequencies_locked[1]"] for row in swept]


def test_files_appear_whole(arm, tmp_path):
    file = tmp_path / "sweep.csv"
    swept = arm.sweep("modes", over={"EI": "-20,20"}, keep="frequencies_locked[1]", workers=1, output=str(file))
    assert swept.failed == 1
    head, bad, good = file.read_text().splitlines()
    assert head == "case,EI,frequencies_locked[1],error"
    assert bad.startswith("1,-20,,") and good.startswith("2,20,") and good.endswith(",")
    assert list(tmp_path.iterdir()) == [file]


def test_a_sweep_waits_until_somebody_looks_and_help_says_so(arm, tmp_path):
    given = {"over": {"EI": "-20,20"}, "keep": "frequencies_locked[1]", "workers": 1, "strict": True}
    for i, look in enumerate((list, lambda swept: swept.result(), lambda swept: swept["EI"])):
        file = tmp_path / f"{i}.csv"
        swept = arm.sweep("modes", **given, output=str(file))
        assert len(swept) == 2 and "EI" in swept and repr(swept) and not [*tmp_path.glob(f"{i}.*")]
        with pytest.raises(ComputationError):
            look(swept)
        assert len(file.read_text().splitlines()) == 3
    for text, said in (
        (arm.sweep.__doc__, "nothing is computed, no file is written and no error of a case is raised"),
        (swept.__doc__, "before, nothing is computed, written, raised"),
        (
            files("kronbot.cli").joinpath("explanations/topics/library.md").read_text(),
            'nothing is computed, written (output="x.csv") or raised (strict) before',
        ),
    ):
        assert said in " ".join(text.split())


def test_unknown_names_are_told_at_once(arm):
    for over in ({"EJ": [1]}, {"EI": "1:2:0"}, {"EI": "1:2"}, {"EI": "0:1:1000000000001"}, {"EI": [float("nan")]}):
        with pytest.raises(UsageError):
            arm.sweep("modes", over=over)
    with pytest.raises(UsageError, match="frequencies_free"):
        arm.sweep("modes", over={"EI": "20:30:2"}, keep="frequencies_fre[1]")


def test_what_would_be_ignored_is_told(arm):
    with pytest.raises(UsageError, match="resume goes on with the journal beside a file: name it with output"):
        arm.sweep("modes", over={"EI": [20]}, resume=True)
    with pytest.raises(UsageError, match="scheduler has workers of its own: leave out workers"):
        arm.sweep("modes", over={"EI": [20]}, workers=1, scheduler="tcp://127.0.0.1:9")


def test_a_sweep_that_is_refused_leaves_no_journal(arm, tmp_path):
    with pytest.raises(UsageError):
        list(arm.sweep("linearize", {"EI": [20, 30]}, lock=["q9"], workers=1, output=str(tmp_path / "a.csv")))
    assert not list(tmp_path.iterdir())


def test_an_error_comes_again(arm):
    """Who asks once more after an error is not told that the rows before it are all."""

    def stop(share):
        raise ValueError("mine")

    swept = arm.sweep("check", over={"EI": [20, 30, 40]}, workers=1, progress=stop)
    for _ in range(2):
        with pytest.raises(ValueError, match="mine"):
            swept.result()


@pytest.mark.parametrize(
    "given",
    [
        {"over": "qa=1"},
        {"over": {5: [1]}},
        {"cases": [{"EI": 20}]},
        {"cases": {"EI": 20}},
        {"cases": {"EI": [20, 30], "qa": [0]}},
        {"cases": {}},
        {"keep": 5},
        {"keep": [5]},
        {"scheduler": 5},
        {"strict": "no"},
        {"resume": 1},
    ],
)
def test_arguments_of_another_kind_are_told(arm, given):
    with pytest.raises(UsageError, match=next(iter(given))):
        arm.sweep("modes", **{"over": {"EI": [20]}, **given})


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="native code needs a C compiler on the path")
@pytest.mark.parametrize("solver", ["rodas", rare("dop853")])
def test_simulations_beside_each_other_are_those_of_one_alone(arm, solver, monkeypatch, unmeasured):
    """Of values, starts, durations and rows of their own; some refused, some that end early; whole and as rows."""
    given = {"solver": solver, "rtol": 1e-3, "atol": 1e-4, "outputs": "velocity:endpoint"}
    runs = [(20, 0.3, {}), (-1, 0.3, {}), (35, 0.5, {"qa": 0.2}), (1e-9, 0.2, {}), (28, 0.05, {}), (20, 0.3, {})]
    cases = [Case({"EI": EI}, given | {"duration": end, "step": end / 7, "q": q}) for EI, end, q in runs]
    cases += [Case({"EI": 20}, given | {"duration": 0.3, "qd": {"qa": 1e9}})]

    def told(answer):
        return str(answer) if isinstance(answer, KronbotError) else answer.to_dict()

    with policy.native("off"):
        alone = [told(answer) for answer in arm.answers("simulate", cases)]
    lanes, drive = [], Abreast.drive
    monkeypatch.setattr(Abreast, "drive", lambda self, runs: (lanes.append(self), drive(self, runs)))
    with policy.native("on"):
        assert [told(answer) for answer in arm.answers("simulate", cases)] == alone
        assert len(lanes) == 1
        assert [told(arm.with_parameters(EI=20).simulate(**cases[0].arguments))] == alone[:1]
        assert len(lanes) == 1
    assert sum(isinstance(each, str) for each in alone) >= 2


def test_what_is_computed_is_sent_along(swept_here):
    """A sweep pickles and is copied with its rows once all are there, else without any."""
    sweep = kronbot.load("khang").sweep("check", over={"EI": [1e5, 2e5, 3e5]})
    next(iter(sweep))
    begun = pickle.loads(pickle.dumps(sweep))
    assert "_kept" not in vars(begun)
    rows = list(sweep)
    assert list(begun) == rows
    whole = copy.deepcopy(pickle.loads(pickle.dumps(sweep)))
    assert "_kept" in vars(whole) and list(whole) == list(whole) == rows
