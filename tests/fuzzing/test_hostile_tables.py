"""Tables that are broken, too large or somewhere else."""

import json
import os
from pathlib import Path

import pytest
from fuzzing import strategies
from fuzzing.texts import GOOD, with_motion
from thinned import thinned

from kronbot.description import limits

NO_TABLES = {
    "empty": b"",
    "only a header": b"t,x\n",
    "one row": b"0,0\n",
    "words": b"t,x\na,b\nc,d\n",
    "not a number": b"0,0\n1,nan\n2,0\n3,1\n",
    "infinite": b"0,0\n1,inf\n2,1e999\n3,1\n",
    "underscores": b"0,0\n1,1_0\n2,0\n3,1\n",
    "other digits": "0,0\n1,\uff11\n2,\u0663\n3,1\n".encode(),
    "expressions": b"0,0\n1,pi\n2,1/2\n3,1\n",
    "formulas of a spreadsheet": b"0,0\n1,=1+1\n2,0\n3,1\n",
    "one column": b"0\n1\n2\n3\n",
    "three columns": b"0,0,0\n1,1,1\n",
    "semicolons": b"0;0\n1;1\n2;2\n3;3\n",
    "quotes": b'"0","0"\n"1","1"\n',
    "times backwards": b"0,0\n2,0\n1,0\n3,0\n",
    "equal times": b"0,0\n0,1\n1,0\n2,0\n",
    "a huge row": b"0,0\n" + b"1," * 1_000_000 + b"\n",
    "a huge cell": b"0,0\n1," + b"9" * 1_000_000 + b"\n2,0\n3,0\n",
    "huge numbers": b"0,0\n1,1" + b"0" * 400 + b"\n2,0\n3,0\n",
    "many mistakes": b"x,y\n" * 1000,
    "no row that is right": b"x,y\n" * limits.TABLE_ROWS,
    "UTF-16": "0,0\n1,1\n2,2\n3,3\n".encode("utf-16"),
    "Latin-1": b"\xe4,\xe4\n0,0\n",
    "zeros": b"0,0\n\0\0\n",
    "binary": b"\x7fELF\x02\x01",
    "terminal escapes": b"0,0\n\x1b[31m,1\n",
    "larger than allowed": b"0,0\n" * (limits.TABLE_BYTES // 4 + 1),
}


@pytest.mark.parametrize("name", thinned(list(NO_TABLES), NO_TABLES.keys() - {"no row that is right", "a huge row"}))
def test_contents_of_tables(refused, tmp_path, name):
    """The mistakes of a table stand at its own lines, as those of a robot file."""
    (tmp_path / "t.csv").write_bytes(NO_TABLES[name])
    lines = refused(with_motion("{type: table, file: t.csv}"), command="simulate", options=["--duration", "1"])
    assert lines[0].startswith(f"{tmp_path / 't.csv'}:")
    assert len(lines) <= limits.MISTAKES + 1


NO_ROWS = {
    "empty": b"",
    "only a header": b"q1\n",
    "no header": b"1\n2\n",
    "another name": b"q2\n1\n",
    "a name twice": b"q1,q1\n1,1\n",
    "too many values": b"q1\n1,2\n",
    "too few values": b"q1\n1\n\n,\n",
    "ragged rows": b"q1\n1\n1,2\n",
    "not a number": b"q1\nnan\n",
    "infinite": b"q1\n1\n1e999\n",
    "words": b"q1\nx\n",
    "other digits": "q1\n\uff11\n".encode(),
    "a million names": b"q1," * 1_000_000 + b"\n1\n",
    "a long name": b"a" * 100_000 + b"\n1\n",
    "UTF-16": "q1\n1\n".encode("utf-16"),
    "Latin-1": b"q\xe4\n1\n",
    "zeros": b"q1\n\0\n",
    "a zero in a name": b"q1\0\n1\n",
    "binary": b"\x7fELF\x02\x01" + bytes(100),
    "terminal escapes": b"\x1b[31mq1\n1\n",
}


@pytest.mark.parametrize("name", NO_ROWS)
def test_rows_of_coordinates(refused, tmp_path, name):
    """--q @FILE is usage, and the file is named."""
    path = tmp_path / "rows.csv"
    path.write_bytes(NO_ROWS[name])
    refused(GOOD, "rows.csv", command="jacobian", options=["--q", f"@{path}"], code=2)


NO_TABLE_FILES = [
    "nosuch.csv", "../t.csv", "sub/../t.csv", "/etc/passwd", "/dev/zero", "out.csv", "fifo", "sub", "loop", "zero",
    ".", "..", "", " ", "~/t.csv", "C:\\t.csv", "C:t.csv", "\\\\host\\t.csv", "..\\t.csv", "file:///etc/passwd",
    "t.csv\0", "t.csv/x", "a" * 5000, "a/" * 3000, "\x1b[31m", "\ud800", "large.csv",
]  # fmt: skip


@pytest.mark.parametrize("name", NO_TABLE_FILES)
def test_places_of_tables(refused, tmp_path, name):
    """Only regular files of the robot file's own folder, without waiting for any."""
    outside = tmp_path / "outside.csv"
    folder = tmp_path / "robots"
    folder.mkdir()
    for path in (outside, tmp_path / "t.csv", folder / "t.csv"):
        path.write_bytes(strategies.TABLE)
    (folder / "out.csv").symlink_to(outside)
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "large.csv").write_bytes(b"0,0\n")
    os.truncate(folder / "large.csv", 100_000_000)
    text = json.dumps(name)
    path = Path("robots") / "r.yaml"
    (tmp_path / path).write_text(with_motion(f"{{type: table, file: {text}}}"))
    refused(with_motion(f"{{type: table, file: {text}}}"), command="check")
