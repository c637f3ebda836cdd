"""The files of a sweep hold what its rows hold, whole arrays too, and are known again when they are finished."""

import csv
import hashlib
import json
import math
import os
import shutil
import signal
import stat
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sweeps.cheap import Cheap, swept
from thinned import rare

import kronbot
from kronbot.cli.main import run
from kronbot.description.shipped import shipped_robots
from kronbot.errors import Interrupted, KronbotError, UsageError
from kronbot.sweeps import folder, journal
from kronbot.sweeps import output as written_as
from kronbot.sweeps.driver import Driver
from kronbot.sweeps.folder import Folder
from kronbot.sweeps.place import Place
from kronbot.system import interruption, plain, saving

pytestmark = pytest.mark.usefixtures("swept_here")


@pytest.fixture(scope="module")
def arm():
    return kronbot.load("khang")


def test_archives_hold_whole_arrays(arm, tmp_path):
    file = tmp_path / "all.npz"
    keep = ["frequencies_free", "shapes_free", "verdict_free", "frequencies_free[2]"]
    sweep = arm.sweep("modes", {"EI": [20, -1, 30], "order": [0, 2]}, keep=keep, workers=1, output=str(file))
    rows = list(sweep)
    with np.load(file, allow_pickle=False) as archive:
        assert archive.files == [*sweep.header, "sweep.json", "units.json"]
        assert json.loads(str(archive["units.json"])) == sweep.result().units
        assert archive["EI"].tolist() == [20, 20, -1, -1, 30, 30] and archive["order"].dtype.kind == "i"
        alone = arm.with_parameters(EI=30).modes()
        assert np.array_equal(archive["shapes_free"][5], alone["shapes_free"])
        assert np.array_equal(archive["frequencies_free"][5], alone["frequencies_free"])
        # The rigid arm has one mode only, a refused robot none.
        assert np.isnan(archive["frequencies_free"][[0, 2]]).tolist() == [[False, True], [True, True]]
        assert np.isnan(archive["frequencies_free[2]"][[0, 2, 3, 4]]).all()
        assert archive["verdict_free"].tolist() == [row["verdict_free"] or "" for row in rows]
        assert archive["error"].tolist() == [row["error"] or "" for row in rows]
    assert replace(sweep, place=Place.named(str(file), resume=True)).finished
    with pytest.raises(UsageError, match="of another sweep"):
        assert arm.sweep("modes", {"EI": [20]}, output=str(file), resume=True).finished

    def other(text):
        return text.encode("utf-32-le")

    for damage in (b"", b"PK\x05\x06", file.read_bytes().replace(other("modes"), other("nodes"))):
        file.write_bytes(damage)
        with pytest.raises(UsageError, match="of another sweep"):
            assert replace(sweep, place=Place.named(str(file), resume=True)).finished


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


def test_the_object_is_that_of_the_file(swept_here, tmp_path):
    """Failed cases among the rows, as of any answer."""
    file = tmp_path / "t.json"
    asked = {"over": {"l": [1, -1, 2]}, "keep": ["total_mass", "first_frequency_locked"]}
    khang = kronbot.load("khang")
    assert khang.sweep("check", **asked, output=str(file)).to_dict() == json.loads(file.read_text())
    assert khang.sweep("check", **asked).to_dict()["rows"][1][-1]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz"])
def test_numbers_are_the_same_in_every_format(tmp_path, suffix):
    file = tmp_path / f"sweep{suffix}"
    sweep = swept(Cheap(), {"EI": "-0.1:1:200"}, place=Place.named(str(file)))
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


def files(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.mark.parametrize("name", ["runs/", rare("runs/.json")])
def test_folders_hold_a_file_a_case(arm, tmp_path, name):
    """All of each answer, each array in its own shape, and a table of what has a single value."""
    over = {"duration": [0.02, -1, 0.01]}
    sweep = arm.sweep("simulate", over, step=0.005, workers=1, output=f"{tmp_path}/{name}")
    assert sweep.failed == 1
    runs = tmp_path / "runs"
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    suffix = ".json" if name.endswith(".json") else ".npz"
    assert sorted(files(runs)) == [f"1{suffix}", f"2{suffix}", f"3{suffix}", "cases.csv", "sweep.json"]
    table = list(csv.DictReader((runs / "cases.csv").open()))
    for row, duration in zip(table, over["duration"], strict=True):
        file = runs / f"{row['case']}{suffix}"
        held = json.loads(file.read_text()) if suffix == ".json" else dict(np.load(file, allow_pickle=False))
        assert held["duration"] == duration and str(held.get("error") or "") == row["error"]
        if duration > 0:
            alone = arm.simulate(duration, 0.005)
            assert all(np.array_equal(held[key], alone[key]) for key in alone.series)
            assert held["energy_drift"] == alone.summary["energy_drift"] == float(row["energy_drift"])
    again = arm.sweep("simulate", over, step=0.005, workers=1, output=f"{tmp_path}/{name}", resume=True)
    assert again.finished
    missing = runs / f"2{suffix}"
    missing.rename(tmp_path / "missing")
    with pytest.raises(UsageError, match="or not all of this one"):
        assert again.finished
    (tmp_path / "missing").rename(missing)
    with pytest.raises(UsageError, match="of another sweep"):
        assert arm.sweep("simulate", over, output=f"{tmp_path}/{name}", resume=True).finished
    other = "runs/" if suffix == ".json" else "runs/.json"
    with pytest.raises(UsageError, match="of another sweep"):
        assert arm.sweep("simulate", over, step=0.005, output=f"{tmp_path}/{other}", resume=True).finished


@pytest.mark.slow
def test_cases_of_statics_are_files(tmp_path):
    robot = kronbot.load("piedboeuf")
    robot.sweep("statics", {"theta": [0, 0.5]}, workers=1, output=f"{tmp_path}/runs/").failed  # noqa: B018
    with np.load(tmp_path / "runs" / "2.npz") as held:
        assert np.array_equal(held["tip.arm.y"], robot.statics(q={"theta": 0.5})["tip.arm.y"])
    assert len((tmp_path / "runs" / "cases.csv").read_text().splitlines()) == 3


def in_folder(path, over="0:1:30", robot=None, **given):
    place = Place.named(f"{path}/", **given)
    return swept(robot or Cheap(), {"EI": over}, place=place, workers=1)


def test_a_folder_appears_whole_and_goes_on(tmp_path, monkeypatch):
    """What stopped it in the middle leaves the journal alone, whose cases are not computed again."""
    path, log = tmp_path / "runs", tmp_path / "log"
    wanted = in_folder(tmp_path / "wanted")
    assert wanted.failed == 0
    write, written = Folder._content, []

    def full(self, cells):
        written.append(cells)
        if len(written) == 20:
            raise OSError(28, "No space left on device")
        return write(self, cells)

    monkeypatch.setattr(Folder, "_content", full)
    with pytest.raises(
        KronbotError, match="No space left on device; 30 of 30 cases are in .* runs.part: resume goes on"
    ):
        list(in_folder(path, robot=Cheap(str(log))))
    monkeypatch.undo()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log", "runs.part", "wanted"]
    # As kill -9 would have left it.
    stale = tmp_path / f".kronbot-{hashlib.sha256(b'runs').hexdigest()[:16]}"
    stale.mkdir()
    for name in (folder.MARK, "01.npz"):
        (stale / name).touch()
    assert len(list(in_folder(path, robot=Cheap(str(log)), resume=True))) == 30
    assert len(log.read_text().splitlines()) == 30
    assert files(path) == files(tmp_path / "wanted")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log", "runs", "wanted"]


def left(folder):
    return sorted(each.name for each in folder.iterdir())


def meanwhile(monkeypatch, happens):
    """Something happens while the first file of a folder is written."""
    write, before = Folder._content, iter([happens])

    def written(self, cells):
        next(before, lambda: None)()
        return write(self, cells)

    monkeypatch.setattr(Folder, "_content", written)


def test_what_comes_into_a_folder_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "runs"
    assert in_folder(path).failed == 0
    meanwhile(monkeypatch, (path / "notes.txt").touch)
    with pytest.raises(KronbotError, match="other files have come into the folder meanwhile"):
        list(in_folder(path, "0:2:40", overwrite=True))
    assert left(tmp_path) == ["runs", "runs.part"]
    assert len(left(path)) == 33 and (path / "notes.txt").exists()
    (path / "notes.txt").unlink()
    assert in_folder(path, "0:2:40", overwrite=True, resume=True).failed == 0
    assert left(tmp_path) == ["runs"] and len(left(path)) == 42


@pytest.mark.parametrize("name", ["run.csv", "run.json", "run.npz"])
def test_a_file_that_comes_meanwhile_stays(name, tmp_path, monkeypatch):
    """The sweep says so, and goes on under that name when it is free."""
    path, found = tmp_path / name, saving.publish

    def sweep(**given):
        return swept(Cheap(), {"EI": "0:1:30"}, place=Place.named(str(path), **given), workers=1)

    def appear(*given):
        path.write_text("theirs")
        return found(*given)

    with monkeypatch.context() as meanwhile, pytest.raises(KronbotError, match="has appeared there meanwhile"):
        meanwhile.setattr(written_as, "publish", appear)
        list(sweep())
    assert path.read_text() == "theirs"
    assert left(tmp_path) == [name, f"{name}.part"]
    path.unlink()
    assert sweep(resume=True).failed == 0
    assert left(tmp_path) == [name] and path.read_bytes()[:6] != b"theirs"


@pytest.mark.parametrize("name", ["runs/", "runs.csv"])
def test_a_journal_that_a_kill_has_left_beside_what_is_whole_goes(tmp_path, monkeypatch, name):
    def sweep(over="0:2:3", **given):
        return swept(Cheap(), {"EI": over}, place=Place.named(f"{tmp_path}/{name}", **given), workers=1)

    with monkeypatch.context() as killed:
        killed.setattr(journal.Journal, "close", lambda self, gone=False: os.close(self.descriptor))
        assert sweep().failed == 0
    written = name.rstrip("/")
    assert left(tmp_path) == [written, f"{written}.part"]
    with pytest.raises(UsageError, match="is there already"):
        list(sweep("0:2:4", resume=True))
    assert sweep(resume=True).finished and left(tmp_path) == [written]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_kill_at_any_step_leaves_nothing_for_good(tmp_path, monkeypatch, replaced):
    """Whole is what has the name, and the next sweep removes what else there is."""

    class Killed(BaseException):
        pass

    steps, deadly = 0, math.inf

    def mortal(act):
        def one(*given):
            nonlocal steps
            steps += 1
            if steps > deadly:  # nothing is done any more, by no clearing up either
                raise Killed
            return act(*given)

        return one

    key = json.dumps(swept(Cheap(), {"EI": [1]}).task.key)

    def fill(self, inside, replaced, content, chunks):
        for name, text in (("sweep.json", key), ("cases.csv", "case,EI\n1,1\n"), ("1.json", content)):
            with open(inside.open(name, os.O_WRONLY | os.O_CREAT), "w") as file:
                file.write(text)

    def save(content):
        target = saving.Target.at(str(tmp_path / "runs"), True)
        with closing(target.folder):
            Folder(".json").save(target, content, None)
        return files(tmp_path / "runs")

    monkeypatch.setattr(Folder, "_fill", fill)
    monkeypatch.setattr(folder.host, "settle", lambda: None)
    for name in ("make", "open", "rename", "remove", "remove_folder"):
        monkeypatch.setattr(folder.host.Folder, name, mortal(getattr(folder.host.Folder, name)))
    before, after = save("before"), save("after")
    for last in count():
        if replaced:
            save("before")
        elif (tmp_path / "runs").exists():
            shutil.rmtree(tmp_path / "runs")
        steps, deadly = 0, last
        with suppress(Killed):
            save("after")
        ended, deadly = steps <= last, math.inf
        if (tmp_path / "runs").exists():
            assert files(tmp_path / "runs") in (before, after)
        elif replaced:
            (old,) = tmp_path.glob(".kronbot-*/old")
            assert files(old) == before
        assert save("after") == after and left(tmp_path) == ["runs"]
        if ended:
            break
    assert last >= (13 if replaced else 8)


def test_what_kill_has_left_of_a_folder_that_was_replaced_is_in_nobodys_way(tmp_path):
    path, old = tmp_path / "runs", tmp_path / f".kronbot-{hashlib.sha256(b'runs').hexdigest()[:16]}-old"
    assert in_folder(path).failed == 0
    old.mkdir()
    for name in (folder.MARK, "17.npz"):
        (old / name).touch()
    path.rename(tmp_path / "before")
    assert in_folder(path).failed == 0
    assert left(tmp_path) == ["before", "runs"]
    old.mkdir()
    (old / folder.MARK).touch()
    assert in_folder(path, "0:2:40", overwrite=True).failed == 0
    assert left(tmp_path) == ["before", "runs"] and len(left(path)) == 42


@pytest.mark.parametrize(
    "files", [["thesis.tex"], ["1.npz", "cases.csv", "sweep.json"], [folder.MARK, "1.npz", "plan"]]
)
def test_what_others_have_moved_where_folders_grow_stays(tmp_path, files):
    """In a folder that everybody may write to any folder of the user's may get the name of a draft."""
    draft = tmp_path / f".kronbot-{hashlib.sha256(b'runs').hexdigest()[:16]}"
    for place in (draft, draft.with_name(f"{draft.name}-old")):
        place.mkdir()
        for name in files:
            (place / name).touch()
    for over in ("0:2:3", "0:2:4"):
        assert in_folder(tmp_path / "runs", over, overwrite=True).failed == 0
    assert left(tmp_path) == [draft.name, f"{draft.name}-old", "runs"]
    assert left(draft) == left(tmp_path / f"{draft.name}-old") == sorted(files)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders by descriptor are POSIX")
def test_what_comes_to_the_name_of_a_replaced_folder_stays(tmp_path, monkeypatch):
    """Files go that sweeps have written, out of the folder that was looked at."""
    path, thesis = tmp_path / "runs", tmp_path / "thesis"
    assert in_folder(path, "0:2:3").failed == 0
    thesis.mkdir()
    (thesis / "1.npz").touch()
    remove = folder._remove

    def exchanged(place, name, inside, parts=()):
        if parts:
            (tmp_path / name).rename(tmp_path / "moved")
            thesis.rename(tmp_path / name)
        remove(place, name, inside, parts)

    monkeypatch.setattr(folder, "_remove", exchanged)
    assert in_folder(path, "0:2:4", overwrite=True).failed == 0
    (name,) = {*left(tmp_path)} - {"runs", "moved"}
    assert left(tmp_path / name) == ["1.npz"] and left(tmp_path / "moved") == []


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can act as two users: NOT TESTED here")
def test_what_others_have_put_where_folders_grow_is_in_nobodys_way(tmp_path):
    theirs = tmp_path / f".kronbot-{hashlib.sha256(b'runs').hexdigest()[:16]}"
    for place in (theirs, theirs.with_name(f"{theirs.name}-old")):
        (place / "inner").mkdir(parents=True)
        os.chown(place, 65534, 65534)
    for over in ("0:2:40", "0:2:30"):
        assert in_folder(tmp_path / "runs", over, overwrite=True).failed == 0
    assert left(tmp_path) == [theirs.name, f"{theirs.name}-old", "runs"]
    os.chown(tmp_path / "runs", 65534, 65534)
    with pytest.raises(UsageError, match="the folder belongs to another user: take another name"):
        list(in_folder(tmp_path / "runs", "0:2:40", overwrite=True))


def test_a_folder_that_is_interrupted_says_how_to_go_on(tmp_path, monkeypatch):
    """Removing its files may take longer than an interrupted process has."""
    asked = []
    monkeypatch.setattr(interruption.Interruptions, "take_time", lambda met: asked.append(left(tmp_path)))
    meanwhile(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Interrupted, match="after 30 of 30 cases; resume goes on with what is computed"):
        list(in_folder(tmp_path / "runs"))
    assert left(tmp_path) == ["runs.part"]
    assert [len(names) for names in asked] == [2]


def test_before_the_first_case_there_is_nothing_to_go_on_with(tmp_path, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(Driver, "chunks", interrupted)
    with pytest.raises(Interrupted, match="^interrupted before the first case: nothing is kept$"):
        list(in_folder(tmp_path / "runs"))
    assert left(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of POSIX")
def test_nothing_is_written_where_somebody_elses_link_leads(tmp_path, monkeypatch):
    """In a folder for everybody the growing one may be exchanged for a link to a place of the user's."""
    shared, private = tmp_path / "shared", tmp_path / "private"
    shared.mkdir()
    private.mkdir()
    shared.chmod(0o777)
    draft = shared / f".kronbot-{hashlib.sha256(b'runs').hexdigest()[:16]}"

    def exchange():
        draft.rename(shared / "elsewhere")
        draft.symlink_to(private)

    meanwhile(monkeypatch, exchange)
    assert in_folder(shared / "runs", "0:2:3").failed == 0
    assert left(private) == left(shared / "elsewhere") == [] and len(left(shared / "runs")) == 5
    take, exchanged = folder.host.Folder.rename, iter([True])

    def moved(self, name, other, to=None):
        take(self, name, other, to)
        if other == "runs" and next(exchanged, False):
            (shared / "runs").rename(shared / "theirs")
            (shared / "runs").symlink_to(private)

    monkeypatch.setattr(folder.host.Folder, "rename", moved)
    with pytest.raises(KronbotError, match="somebody who can write to the folder"):
        list(in_folder(shared / "runs", "0:2:4", overwrite=True))
    assert left(private) == []
    # What was to be replaced is nowhere else now: it has no mark, and no later sweep removes it.
    (kept,) = shared.glob(".kronbot-*/old")
    assert len(left(kept)) == 5 and left(kept.parent) == ["old"]


def test_folders_by_plain_means(tmp_path, monkeypatch):
    """As on Windows."""
    for module in (saving, folder, journal):
        monkeypatch.setattr(module, "host", plain)
    assert in_folder(tmp_path / "runs").failed == 0
    assert in_folder(tmp_path / "runs", "0:2:40", overwrite=True).failed == 0
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]
    assert len(files(tmp_path / "runs")) == 42


def test_only_folders_of_sweeps_are_replaced(tmp_path):
    path = tmp_path / "runs"
    path.mkdir()
    assert in_folder(path).failed == 0  # into one that is empty
    before = files(path)
    with pytest.raises(UsageError, match="the folder is there already; overwrite replaces it"):
        list(in_folder(path, "0:2:40"))
    assert files(path) == before
    assert in_folder(path, "0:2:40", overwrite=True).failed == 0
    assert len(files(path)) == 42
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]
    for name in ("mine.txt", "41.npz", "1.npz", "01.json", "unfinished"):
        (path / name).touch()
        for given in ({}, {"overwrite": True}):
            with pytest.raises(UsageError, match="other files than those of a sweep"):
                list(in_folder(path, **given))
        assert len(files(path)) == 43
        (path / name).unlink()
    (path / "40.npz").unlink()  # what is missing is nobody's
    assert in_folder(path, "0:2:3", overwrite=True).failed == 0 and len(files(path)) == 5
    (tmp_path / "file").touch()
    for name, words in (("file", "a file, not a folder"), (".", "no folder can"), ("..", "no folder can")):
        with pytest.raises(UsageError, match=words):
            list(in_folder(f"{tmp_path}/{name}", overwrite=True))
        with pytest.raises(UsageError, match=words):
            assert in_folder(f"{tmp_path}/{name}", resume=True).finished
    with pytest.raises(UsageError, match="1000000 at most"):
        in_folder(tmp_path / "many", "0:1:1e7")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sweep.json", b"a"), ("sweep.json", b"{}"), ("sweep.json", b"[" * 100_000), ("sweep.json", None),
        ("cases.csv", b"EI\n1\n2\n3\n"), ("cases.csv", b"case,mass,error\n3,1,\n"), ("cases.csv", b"case,EI\n"),
        ("cases.csv", b"case,EI\n2,1\n"), ("cases.csv", b'case,"\xff\n3,1\n'), ("cases.csv", None),
    ],
)  # fmt: skip
def test_folders_of_sweeps_are_known_by_what_is_in_them(tmp_path, name, content):
    """Names alone are anybody's."""
    path = tmp_path / "runs"
    assert in_folder(path, "0:2:3").failed == 0
    if content is None:
        (path / name).unlink()
    else:
        (path / name).write_bytes(content)
    before = files(path)
    with pytest.raises(UsageError, match="other files than those of a sweep"):
        list(in_folder(path, overwrite=True))
    assert files(path) == before


def test_no_folder_replaces_what_it_comes_from(tmp_path, monkeypatch):
    """In the library, by whatever name; nor does a file."""
    monkeypatch.chdir(tmp_path)
    assert in_folder("runs", "0:2:3").failed == 0
    text = shipped_robots()["khang"].read_text()
    (tmp_path / "runs" / "1.npz").write_text(text)
    os.symlink("runs", "link")
    for robot, names in (("runs/1.npz", ("runs/", "runs", "link/", "runs/.json")), ("link/1.npz", ("runs/",))):
        asked = kronbot.load(robot)
        for name in names:
            with pytest.raises(UsageError, match="the robot file is in that folder"):
                asked.sweep("check", {"EI": [20]}, output=name, overwrite=True)
    os.link("runs/1.npz", "khang.csv")
    with pytest.raises(UsageError, match="that is the robot file itself"):
        asked.sweep("check", {"EI": [20]}, output="khang.csv", overwrite=True)
    assert (tmp_path / "runs" / "1.npz").read_text() == text


def test_measurements_that_a_robot_file_names_are_kept(tmp_path):
    """In the library and by commands that do not read them."""
    data, file = tmp_path / "data.csv", tmp_path / "arm.yaml"
    data.write_text("q1\n0\n")
    file.write_text(f"{shipped_robots()['khang'].read_text()}\nfit: {{data: data.csv}}\n")
    with pytest.raises(UsageError, match="that is the file of measurements itself"):
        kronbot.load(file).sweep("check", {"EI": [20]}, output=str(data), overwrite=True)
    assert run(["jacobian", str(file), "-o", str(data), "--overwrite"]) == 2
    assert data.read_text() == "q1\n0\n"


def test_what_cannot_be_written_is_refused_at_once(arm, tmp_path):
    """Before anybody asks for a row, as all else that is wrong with a sweep."""
    (tmp_path / "there.csv").touch()
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "a.txt").touch()
    for name, given, why in (
        ("/", {}, "output /: no folder can be put there"),
        (f"{tmp_path}/none/a.csv", {}, "a.csv"),
        (f"{tmp_path}/there.csv", {}, "the file is there already"),
        (f"{tmp_path}/others/", {"overwrite": True}, "other files than those of a sweep"),
        (f"{tmp_path}/others/", {"resume": True}, "other files than those of a sweep"),
    ):
        with pytest.raises(UsageError, match=why):
            arm.sweep("check", {"EI": [20]}, output=name, **given)
    arm.sweep("check", {"EI": [20]}, output=f"{tmp_path}/there.csv", resume=True)  # may be its own
    arm.sweep("check", {"EI": [20]}, output=f"{tmp_path}/there.csv", overwrite=True)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the current folder cannot be moved")
def test_the_current_folder_is_not_exchanged(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path / "runs")
    with pytest.raises(UsageError, match="that is the current folder, which would be exchanged"):
        list(in_folder("../runs"))


@pytest.mark.parametrize("appears", [lambda path: (path / "in").mkdir(parents=True), Path.touch])
def test_what_comes_where_a_folder_is_to_appear_stays(tmp_path, monkeypatch, appears):
    """The journal stays, too, and goes on when the place is free, or beside another name."""
    path = tmp_path / "runs"
    meanwhile(monkeypatch, lambda: appears(path))
    told = (
        "output .*runs/: something has appeared there meanwhile and stays: move it away; "
        "30 of 30 cases are in the journal runs.part: resume goes on with it$"
    )
    with pytest.raises(KronbotError, match=told):
        list(in_folder(path))
    assert left(tmp_path) == ["runs", "runs.part"]
    (tmp_path / "runs.part").rename(tmp_path / "others.part")
    monkeypatch.setattr(Driver, "chunks", lambda self: iter(()))  # nothing is computed
    assert len(list(in_folder(tmp_path / "others", resume=True))) == 30
    assert left(tmp_path) == ["others", "runs"]


def test_a_folder_that_becomes_a_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "runs"
    assert in_folder(path, "0:2:3").failed == 0
    meanwhile(monkeypatch, lambda: (path.rename(tmp_path / "before"), path.write_text("theirs")))
    with pytest.raises(
        KronbotError, match="runs/: something has appeared there meanwhile and stays: move it away; 3 of"
    ):
        list(in_folder(path, "0:2:3", overwrite=True))
    assert path.read_text() == "theirs" and left(tmp_path) == ["before", "runs", "runs.part"]


def test_a_file_that_appears_before_a_folder_is_written_stays(tmp_path, arm):
    path = tmp_path / "runs"
    asked = {"output": f"{path}/", "workers": 1, "progress": lambda _: path.write_text("theirs")}
    with pytest.raises(
        KronbotError, match="runs/: something has appeared there meanwhile and stays: move it away; 2 of"
    ):
        arm.sweep("check", {"EI": [20, 21]}, **asked).result()
    assert path.read_text() == "theirs" and left(tmp_path) == ["runs", "runs.part"]


def test_what_cannot_be_written_is_found_before_anything_is_computed(tmp_path, monkeypatch):
    """In the library as on the command line; root may write everywhere."""

    def refused(words, ask):
        with pytest.raises(KronbotError, match=words):
            ask()

    def computed(*given):
        pytest.fail("computed")

    def sweep(name):
        return swept(Cheap(), {"EI": "0:2:3"}, workers=1, place=Place.named(f"{tmp_path}/{name}", overwrite=True))

    assert in_folder(tmp_path / "runs").failed == 0
    os.mkfifo(tmp_path / "run.csv")
    (tmp_path / "other.csv").touch()
    (tmp_path / "mine.svg").touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(Driver, "chunks", computed)
    refused("a device or a pipe, not a file", lambda: list(sweep("run.csv")))
    new = sweep("new.csv")
    with monkeypatch.context() as lacking:
        lacking.setattr(os, "access", lambda path, mode, **_: False)
        refused("the folder is read-only: chmod u[+]w it", lambda: list(sweep("runs/")))
        refused("the folder that it is to be in is read-only", lambda: list(sweep("new/")))
        refused("x.svg: the folder is read-only", lambda: new.plot(tmp_path / "x.svg"))
    refused("mine.svg: the file is there already", lambda: sweep("new.csv").plot(tmp_path / "mine.svg"))
    refused("a page ends in .html", lambda: sweep("new.csv").view(tmp_path / "mine.svg"))
    with monkeypatch.context() as mounted:
        status = folder.host.Folder.status
        mounted.setattr(folder.host.Folder, "status", lambda each: os.stat_result([*status(each)[:2], -1, *[0] * 7]))
        refused("a file system of its own cannot be exchanged", lambda: list(sweep("empty/")))
    monkeypatch.setattr(folder.host, "replaceable", lambda found, folder: False)  # as in a sticky folder of others
    refused("the file belongs to another user", lambda: list(sweep("other.csv")))
    refused("the folder belongs to another user", lambda: list(sweep("empty/")))
    refused("mine.svg: the file belongs", lambda: sweep("new.csv").plot(tmp_path / "mine.svg", overwrite=True))
    assert left(tmp_path) == ["empty", "mine.svg", "other.csv", "run.csv", "runs"]


def test_views_have_counts_texts_and_whole_arrays(arm):
    """Of a case that failed there are no numbers; nothing but it has an error."""
    keep = ["frequencies_locked[1]", "shapes_free", "verdict_locked"]
    sweep = arm.sweep("modes", {"EI": [20, -1, 30]}, keep=keep, workers=1)
    table = sweep.to_pandas()
    assert table["case"].tolist() == [1, 2, 3] and table["case"].dtype.kind == "i"
    assert table["error"].isna().tolist() == [True, False, True]
    assert table["frequencies_locked[1]"].isna().tolist() == [False, True, False]
    assert table["verdict_locked"][0].startswith("stable")
    data = sweep.to_xarray()
    assert data["shapes_free"].dims == ("EI", "shapes_free.row", "shapes_free.column")
    assert np.array_equal(data["shapes_free"][0], arm.with_parameters(EI=20).modes()["shapes_free"])
    assert data["error"].values.tolist()[::2] == ["", ""] and data["case"].dtype.kind == "i"
    assert arm.sweep("check", {"EI": [20, 30]}, workers=1).to_pandas()["error"].tolist() == [None, None]


@pytest.mark.slow
@pytest.mark.parametrize(("pictured", "suffix"), [(True, ".csv"), (False, ".json"), (True, ".npz")])
def test_a_sweep_goes_on_with_or_without_a_picture(arm, tmp_path, suffix, pictured):
    """The file is the same; where the first cases have no shapes the picture does without, and says so."""

    class Stopped(Exception):
        pass

    def stop(share):
        raise Stopped

    def asked(name, **given):
        over = {"EI": "20:40:40"}
        return arm.sweep("modes", over, keep="frequencies_free[1:2]", workers=1, output=str(tmp_path / name), **given)

    list(asked(f"whole{suffix}", plot=True))
    with pytest.raises(Stopped):
        list(asked(f"out{suffix}", plot=not pictured, progress=stop))
    result = asked(f"out{suffix}", plot=pictured, resume=True).result()
    assert (tmp_path / f"out{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    assert result.asked.beside == {} and bool(result.warnings) == pictured
    assert asked(f"out{suffix}", plot=pictured, resume=True).finished


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_replaces_a_private_one_is_as_private(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "jacobian", "khang", "--over", "qa=0,1", "-o", "out/", "-q"]
    os.mkdir("out", 0o700)
    assert run(words) == 0 and stat.S_IMODE(os.stat("out").st_mode) == 0o700
    assert run([*words, "--overwrite"]) == 0 and stat.S_IMODE(os.stat("out").st_mode) == 0o700
    # So are its files, each by its name; one of a new name is like any other.
    modes = {"1.npz": 0o600, "cases.csv": 0o640, "sweep.json": 0o400}
    for name, mode in modes.items():
        os.chmod(f"out/{name}", mode)
    os.remove("out/2.npz")
    before = os.umask(0o022)
    try:
        assert run([*words, "--overwrite"]) == 0
    finally:
        os.umask(before)
    assert {name: stat.S_IMODE(os.stat(f"out/{name}").st_mode) for name in os.listdir("out")} == {
        **modes,
        "2.npz": 0o644,
    }
    os.mkdir("out/1.npz.d")
    os.rename("out/1.npz.d", "out/3.npz")  # a folder, and no file of a sweep
    assert run([*words, "--overwrite"]) == 2 and os.path.isdir("out/3.npz")


def test_a_picture_is_not_in_the_folder_that_appears(tmp_path, monkeypatch, capsys):
    """All was computed, and the folder that was looked at had gone."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")
    words = ["sweep", "jacobian", "khang", "--over", "qa=0,1", "-o", "out/", "--plot", "./out/p.svg"]
    assert run(words) == 2 and os.listdir("out") == []
    assert "--plot ./out/p.svg: -o writes that folder anew: name a place outside of it" in capsys.readouterr().err


def test_a_folder_that_has_taken_the_name_meanwhile_stays(tmp_path, monkeypatch):
    """Others who can rename may exchange it while the draft grows."""
    monkeypatch.chdir(tmp_path)
    for name in ("out", "precious"):
        assert run(["sweep", "jacobian", "khang", "--over", "qa=0,1", "-o", f"{name}/", "-q"]) == 0
    settle = folder.host.settle

    def exchanged():
        os.rename("out", "aside")
        os.rename("precious", "out")
        settle()

    monkeypatch.setattr(folder.host, "settle", exchanged)
    kept = os.stat("precious").st_ino
    assert run(["sweep", "jacobian", "khang", "--over", "qa=0:1:3", "-o", "out/", "--overwrite", "-q"]) != 0
    assert os.stat("out").st_ino == kept and "2.npz" in os.listdir("out")
