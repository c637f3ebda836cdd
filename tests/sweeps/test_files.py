"""The files of a sweep hold what its rows hold, whole arrays too, and are known again when they are finished."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sweeps.cheap import Cheap, swept

import kronbot
from kronbot.errors import UsageError
from kronbot.sweeps.place import Place


@pytest.fixture(scope="module")
def arm():
    return kronbot.load("khang")


def test_archives_hold_whole_arrays(arm, tmp_path):
    file = tmp_path / "all.npz"
    keep = ["frequencies_free", "shapes_free", "verdict_free", "frequencies_free[2]"]
    sweep = arm.sweep("modes", {"EI": [20, -1, 30], "order": [0, 2]}, keep=keep, workers=1, output=str(file))
    rows = list(sweep)
    with np.load(file, allow_pickle=False) as archive:
        assert archive.files == [*sweep.header, "sweep.json"]
        assert archive["EI"].tolist() == [20, 20, -1, -1, 30, 30] and archive["order"].dtype.kind == "i"
        alone = arm.with_parameters(EI=30).modes()
        assert np.array_equal(archive["shapes_free"][5], alone["shapes_free"])
        assert np.array_equal(archive["frequencies_free"][5], alone["frequencies_free"])
        # The rigid arm has one mode only, a refused robot none.
        assert np.isnan(archive["frequencies_free"][[0, 2]]).tolist() == [[False, True], [True, True]]
        assert np.isnan(archive["frequencies_free[2]"][[0, 2, 3, 4]]).all()
        assert archive["verdict_free"].tolist() == [row["verdict_free"] or "" for row in rows]
        assert archive["error"].tolist() == [row["error"] or "" for row in rows]
    assert replace(sweep, place=Place(str(file), resume=True)).finished
    with pytest.raises(UsageError, match="of another sweep"):
        assert arm.sweep("modes", {"EI": [20]}, output=str(file), resume=True).finished


def test_series_go_to_archives(arm, tmp_path):
    file = tmp_path / "runs.npz"
    sweep = arm.sweep("simulate", {"duration": [0.02, 0.01]}, keep=["t", "qa"], step=0.005, workers=1, output=str(file))
    assert sweep.failed == 0
    with np.load(file) as archive:
        assert archive["qa"].shape == (2, 5)
        assert np.array_equal(archive["qa"][0], arm.simulate(0.02, 0.005)["qa"])
        assert np.isnan(archive["qa"][1, 3:]).all()
    with pytest.raises(UsageError, match="t is no single number"):
        arm.sweep("simulate", {"duration": [0.02]}, keep="t", output="runs.csv")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz"])
def test_numbers_are_the_same_in_every_format(tmp_path, suffix):
    file = tmp_path / f"sweep{suffix}"
    sweep = swept(Cheap(), {"EI": "-0.1:1:200"}, place=Place(str(file)))
    rows = list(sweep)
    if suffix == ".npz":
        with np.load(file) as archive:
            found = archive["total_mass"].tolist()
    elif suffix == ".json":
        found = [row[sweep.header.index("total_mass")] for row in json.loads(file.read_text())["rows"]]
    else:
        found = [float(row["total_mass"] or "nan") for row in csv.DictReader(file.open())]
        assert [row["error"] for row in csv.DictReader(file.open())] == [row["error"] or "" for row in rows]
    wanted = [row["total_mass"] for row in rows]
    assert np.array_equal(np.array(found, dtype=float), np.array(wanted, dtype=float), equal_nan=True)


def test_a_table_has_the_dimensions_of_its_grid(arm):
    sweep = arm.sweep("modes", {"EI": [20, 30, 40], "qa": [0, 1]}, keep="frequencies_locked[1]", workers=1)
    table = sweep.to_xarray()
    assert dict(table.sizes) == {"EI": 3, "qa": 2}
    alone = arm.with_parameters(EI=30).modes(q={"qa": 1})["frequencies_locked"][0]
    assert float(table["frequencies_locked[1]"].sel(EI=30, qa=1)) == alone
