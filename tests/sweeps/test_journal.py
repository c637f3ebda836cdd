"""The journal of a sweep: whose it is, what of it counts, and that it is nobody else's."""

import errno
import json
import os
import stat
import zlib
from dataclasses import replace

import pytest
from sweeps.cheap import Cheap, swept

import kronbot
from kronbot.errors import KronbotError, Starved, UsageError
from kronbot.sweeps.journal import Journal
from kronbot.sweeps.output import demand_written
from kronbot.sweeps.place import Place
from kronbot.system.platform import host
from kronbot.system.saving import Target

KEY = {"robot": "a", "question": "modes", "cases": [["EI"], ["range", "EI", 0.0, 1.0, 9]]}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "sweep.csv"


def opened(file, key=KEY, resume=False, overwrite=False):
    return Journal.beside(Target.at(str(file), False), key, 9, resume, overwrite)


@pytest.fixture
def part(file):
    """A journal with two chunks, which do not follow each other."""
    task = swept(Cheap(), {"EI": "0:1:9"}).task
    journal = opened(file)
    for span in ((4, 6), (0, 3)):
        journal.add(task.done(*span))
    journal.close()
    return file.with_name("sweep.csv.part")


def test_chunks_are_found_again(file, part):
    task = swept(Cheap(), {"EI": "0:1:9"}).task
    journal = opened(file, resume=True)
    assert journal.spans == [(0, 3), (4, 6)]
    journal.add(task.done(3, 4))
    texts = [done.text for done in journal.chunks()]
    journal.close()
    assert texts == [task.done(*span).text for span in ((0, 3), (3, 4), (4, 6))]
    # Lines of JSON, for who wants to look.
    assert all(json.loads(line) for line in part.read_text().splitlines())


def test_cases_that_failed_of_the_machine_are_computed_again(file, part, monkeypatch):
    """For want of memory; chunks of others stay, and so do errors of the robot."""
    task = swept(Cheap(), {"EI": "-1:7:9"}).task
    answers = Cheap.answers
    with monkeypatch.context() as poor:
        poor.setattr(Cheap, "answers", lambda *asked: (Starved("no memory") for _ in answers(*asked)))
        starved = task.done(3, 4)
    journal = opened(file, overwrite=True)
    for done in (task.done(0, 3), starved, task.done(4, 5)):
        journal.add(done)
    assert journal.spans == [(0, 3), (3, 4), (4, 5)] and starved.failed == 1
    journal.close()
    for _ in range(2):
        journal = opened(file, resume=True)
        again = (3, 4) not in journal.spans
        assert journal.spans == [(0, 3), *[(3, 4)] * (not again), (4, 5)]
        if again:
            journal.add(task.done(3, 4))
        journal.close()
    assert not again


@pytest.mark.parametrize("cut", [1, 10, 40, 90, 130])
def test_what_is_not_whole_is_dropped(file, part, cut):
    part.write_bytes(part.read_bytes()[:-cut])
    journal = opened(file, resume=True)
    assert journal.spans == [(4, 6)]
    journal.add(swept(Cheap(), {"EI": "0:1:9"}).task.done(0, 3))
    journal.close()
    journal = opened(file, resume=True)
    assert journal.spans == [(0, 3), (4, 6)]
    journal.close()


def chunk(rows, *cases, length=None):
    """As the journal would write it, whatever the rows are."""
    head = {"cases": cases, "failed": 0, "bytes": len(rows) if length is None else length, "sum": zlib.crc32(rows)}
    return json.dumps(head, separators=(",", ":")).encode() + b"\n" + rows


@pytest.mark.parametrize(
    "made",
    [
        chunk(b"[7,1.0,1.0,3,null]\n", 6, 60),
        chunk(b"[7,1.0,1.0,3,null]\n", 6, 10**30),
        chunk(b"[7,1.0,1.0,3,null]\n", 8, 7),
        chunk(b"", 6, 7),
        chunk(b"[7,1.0,1.0,3,null]\n", 6, 7, length=10**17),
    ],
    ids=["beyond the last case", "long numbers", "backwards", "nothing", "no memory has room for it"],
)
def test_chunks_that_no_sweep_has_written_are_dropped(file, part, made):
    part.write_bytes(part.read_bytes() + made)
    journal = opened(file, resume=True)
    assert journal.spans == [(0, 3), (4, 6)]
    journal.close()


def test_chunks_that_share_cases_are_refused(file, part):
    """Rows would stand twice, or not at all."""
    before = part.read_bytes() + chunk(b"[6,1.0,1.0,3,null]\n", 5, 7)
    part.write_bytes(before)
    with pytest.raises(UsageError, match="not as a sweep has written it: remove it"):
        opened(file, resume=True)
    assert part.read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".npz", "/"])
@pytest.mark.parametrize("rows", [b'"' + b"[" * 100_000 + b"\n", b'{"":1}\n', b'["\xff"]\n'])
def test_rows_that_are_none_are_told(tmp_path, suffix, rows, swept_here):
    """Where somebody has made a sum for them."""
    path = f"{tmp_path}/out{suffix}"
    sweep = swept(Cheap(), {"EI": "0:1:9"}, place=Place.named(path, resume=True))
    part = tmp_path / (f"out{suffix}.part" if suffix != "/" else "out.part")
    part.write_bytes(b'{"kronbot sweep": 1, ' + json.dumps(sweep.task.key).encode()[1:] + b"\n" + chunk(rows, 2, 3))
    with pytest.raises(KronbotError, match="cases 3 to 3 are not as a sweep has written them"):
        list(sweep.chunks())


def test_a_changed_number_does_not_count(file, part):
    part.write_text(part.read_text().replace("0.0625", "0.0635"))
    journal = opened(file, resume=True)
    assert (4, 6) in journal.spans or journal.spans == []
    assert (0, 3) not in journal.spans
    journal.close()


def test_a_journal_is_not_begun_again_by_mistake(file, part):
    with pytest.raises(UsageError, match="resume goes on with it, overwrite begins afresh"):
        opened(file)
    opened(file, overwrite=True).close()
    journal = opened(file, resume=True)
    assert journal.spans == []
    journal.close()


def test_another_sweep_is_refused_by_what_differs(file, part):
    with pytest.raises(UsageError, match="of another sweep, with other question and cases"):
        opened(file, {**KEY, "question": "statics", "cases": []}, resume=True)


def test_another_file_of_that_name_stays(file):
    part = file.with_name("sweep.csv.part")
    part.write_text("a,b\n1,2\n")
    for given in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(UsageError, match="not one of kronbot"):
            opened(file, **given)
    assert part.read_text() == "a,b\n1,2\n"


def test_a_journal_that_was_hardly_begun_is_begun_again(file, part):
    part.write_bytes(part.read_bytes()[:30])
    journal = opened(file)
    assert journal.spans == []
    journal.close()


def test_it_is_removed_while_it_is_locked(file, part, monkeypatch):
    journal = opened(file, resume=True)
    monkeypatch.setattr(os, "close", lambda descriptor: None)
    journal.close(gone=True)
    monkeypatch.undo()
    assert not part.exists()
    opened(file).close()  # that of the next sweep, which the first one leaves alone
    os.close(journal.descriptor)
    assert part.exists()


def test_one_writer_at_a_time(file, part):
    journal = opened(file, resume=True)
    for given in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(UsageError, match="another sweep is writing it"):
            opened(file, **given)
    assert journal.spans == [(0, 3), (4, 6)]
    journal.close()


def test_links_and_files_of_others_are_left_alone(file, tmp_path, monkeypatch):
    def closed(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    mine = tmp_path / "mine"
    mine.write_text("precious\n")
    part = file.with_name("sweep.csv.part")
    for link in (os.symlink, os.link):
        link(mine, part)
        with pytest.raises(KronbotError, match=r"sweep\.csv\.part is not a file of the user.s alone"):
            opened(file, overwrite=True)
        assert mine.read_text() == "precious\n"
        part.unlink()
    part.mkdir()
    with pytest.raises(KronbotError, match="not a file of the user's alone"):
        opened(file, overwrite=True)
    part.rmdir()
    os.mkfifo(part)
    with pytest.raises(KronbotError, match="not a file of the user's alone"):
        opened(file, overwrite=True)
    part.unlink()
    if os.geteuid() == 0:
        part.write_text("")
        os.chown(part, 12345, -1)
        with pytest.raises(KronbotError, match="not a file of the user's alone"):
            opened(file, overwrite=True)
        # In a sticky folder some systems open none that others have put there.
        monkeypatch.setattr(host.Folder, "open", closed)
        with pytest.raises(KronbotError, match="not a file of the user's alone"):
            opened(file, overwrite=True)
        part.unlink()
        with pytest.raises(KronbotError, match="Permission denied"):
            opened(file, overwrite=True)


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_one_that_others_could_have_written_is_not_believed(file, mode):
    """As functions in the cache are not, and files behind links."""
    opened(file).close()
    part = file.with_name("sweep.csv.part")
    part.chmod(mode)
    with pytest.raises(KronbotError, match="can be written by others: look at it, then chmod go-w it, or remove it"):
        opened(file, resume=True)
    part.chmod(0o644)
    opened(file, resume=True).close()


def test_it_is_for_the_user_alone(file):
    opened(file).close()
    assert file.with_name("sweep.csv.part").stat().st_mode & 0o077 == 0


def test_the_key_is_of_the_sweep_and_not_of_who_computes_it(file):
    one = swept(Cheap(), {"EI": "0:1:9"}, 1, Place.named(str(file)))
    assert one.task.key == swept(Cheap(), {"EI": "0:1:9"}, 2).task.key
    assert json.loads(json.dumps(one.task.key)) == one.task.key
    others = [
        swept(Cheap(), {"EI": "0:1:8"}),
        swept(Cheap(), {"EI": "0:1:9"}, keep="total_mass"),
        swept(Cheap(), {"EI": [0, 1]}),
        swept(Cheap(), {"EI": "normal(0, 1)"}, draws=(4, 0, False)),
        swept(Cheap(), {"EI": "normal(0, 1)"}, draws=(4, 1, False)),
    ]
    keys = [json.dumps(each.task.key) for each in (one, *others)]
    assert len(set(keys)) == len(keys)
    assert replace(one, place=None).task.key == one.task.key


def test_one_that_has_just_gone_is_told_as_such(file, part, monkeypatch):
    """Another sweep ends between the opening of its journal and the lock."""
    first = opened(file, resume=True)
    lock = host.lock

    def late(descriptor):
        first.close(gone=True)
        lock(descriptor)

    monkeypatch.setattr(host, "lock", late)
    with pytest.raises(UsageError, match="the sweep that was writing it has just ended"):
        opened(file, resume=True)
    assert not part.exists()


@pytest.mark.parametrize("room", [0, 50, 1 << 20])
def test_where_there_is_nothing_to_resume_nothing_is_left(file, monkeypatch, room):
    """On a full disk: neither in the line that says what sweep this is, nor in the first rows."""
    write, task = os.write, swept(Cheap(), {"EI": "0:1:9"}).task
    left = iter([room])

    def full(descriptor, content):
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return write(descriptor, content)
        if not (fits := next(left, 0)):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content[:fits])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(KronbotError, match=r"^the journal sweep\.csv\.part: No space left on device$"):
        list(Place.named(str(file)).written(task, lambda task, spans: iter([task.done(0, 3)])))
    assert not [*file.parent.iterdir()]


@pytest.mark.slow
def test_what_sweeps_write_is_believed():
    """Rows of failed cases, which hold nothing unseen, values by time, whole arrays, orders, draws, cases of a list."""
    cheap = swept(Cheap(), {"EI": "-1:7:9"}).task
    arm = kronbot.load("khang")
    tasks = [
        replace(cheap, kept=cheap.kept.hiding(["frequencies_free"])),
        swept(Cheap(), {"EI": "normal(1, 1)"}, draws=(8, 0, False)).task,
        arm.sweep("simulate", {"EI": [20, 30.0]}, keep="t,endpoint.y,energy_drift", duration=0.02, step=0.01).task,
        arm.sweep(
            "modes", {"order": "0,1"}, cases={"EI": [20, "2*10"]}, keep="frequencies_free[1],poles_free", plot=True
        ).task,
    ]
    for task in tasks:
        done = task.done(0, task.cases.count)
        demand_written(done, task)
        with pytest.raises(KronbotError, match="not as a sweep has written them"):
            demand_written(done._replace(failed=done.failed + 1), task)
    assert tasks[0].done(0, 1).failed == 1


UNWRITTEN = (
    "[]", "1", '["../other",2.0,4.0,3,null]', '["/other",2.0,4.0,3,null]', "[[3],2.0,4.0,3,null]",
    "[-1,2.0,4.0,3,null]",    "[3.0,2.0,4.0,3,null]", "[true,2.0,4.0,3,null]", "[3,2.0,4.0,null]",
    "[3,2.0,4.0,3,null]\n[3,2.0,4.0,3,null]",
    '[3,2.0,{"real":1},3,null]', f"[3,2.0,1{400 * '0'},3,null]", "[3,2.0,[1,[2,3]],3,null]", '[3,2.0,4.0,3,"\\ud800"]',
    # Arrays where a value is single, tokens that JSON has not, errors that are no texts or not counted, other cases.
    "[3,2.0,[1,2],[[3]],null]", "[3,2.0,NaN,3,null]", "[3,2.0,-1e999,3,null]", "[3,2.0,4.0,3,5]", '[3,2.0,4.0,3,"no"]',
    '[3,2.0,{"real":1,"imag":NaN},3,null]', "[3,99,4.0,3,null]", "[3,2,4.0,3,null]", "[3,[2.0],4.0,3,null]",
)  # fmt: skip


@pytest.mark.parametrize("told", ['["x",-5,-5]', f'["x",{10**30},1]', f'["x",3,{10**30}]', '["x",4,1]', '["x",3,2]'])
def test_warnings_of_cases_that_are_not_there_are_refused(tmp_path, told):
    """Where somebody has made a sum for them."""
    sweep = swept(Cheap(), {"EI": "0:8:9"}, place=Place.named(f"{tmp_path}/it.csv", resume=True))
    rows, doubts = b"[3,2.0,4.0,3,null]\n", f"[{told}]\n".encode()
    head = b'{"cases":[2,3],"failed":0,"bytes":%d,"told":%d,"sum":%d}\n'
    content = head % (len(rows), len(doubts), zlib.crc32(rows + doubts)) + rows + doubts
    key = json.dumps(sweep.task.key).encode()[1:]
    (tmp_path / "it.csv.part").write_bytes(b'{"kronbot sweep": 1, ' + key + b"\n" + content)
    with pytest.raises(KronbotError, match="the warnings of cases 3 to 3 are not as a sweep has written them"):
        list(sweep.chunks())


@pytest.mark.parametrize("form", [".csv", ".json", ".npz", "/"])
def test_rows_that_no_sweep_has_written_are_refused(tmp_path, form, swept_here):
    """Where somebody has made a sum for them: files of folders are called by their cases."""
    part = tmp_path / "out" / f"it{form.strip('/')}.part"
    part.parent.mkdir()
    sweep = swept(Cheap(), {"EI": "0:8:9"}, place=Place.named(f"{tmp_path}/out/it{form}", resume=True))
    key = json.dumps(sweep.task.key).encode()[1:]
    for row in UNWRITTEN:
        part.write_bytes(b'{"kronbot sweep": 1, ' + key + b"\n" + chunk(row.encode() + b"\n", 2, 3))
        with pytest.raises(KronbotError, match="the rows of cases 3 to 3 are not as a sweep has written them"):
            list(sweep.chunks())
        assert [path.name for path in part.parent.iterdir()] == [part.name] and len([*tmp_path.iterdir()]) == 1
    for hidden in (b"5", b"[5]", b'{"a": 1}'):
        part.write_bytes(b'{"kronbot sweep": 1, "hidden": ' + hidden + b", " + key + b"\n")
        with pytest.raises(UsageError, match="not as a sweep has written it: remove it"):
            list(sweep.chunks())
