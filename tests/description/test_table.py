"""Tables of time and value."""

import os
from pathlib import Path

import pytest

from kronbot.description import limits, read_table
from kronbot.errors import DescriptionError


def table(folder, text, rows=2):
    (folder / "t.csv").write_text(text)
    return read_table(folder, "t.csv", rows)


def test_with_and_without_a_header(tmp_path):
    expected = ((0.0, 0.5, 1.0), (1.0, -2.0, 3e5))
    assert table(tmp_path, "0,1\n0.5,-2\n1,3e5\n") == expected
    assert table(tmp_path, "t, torque\r\n\r\n0, 1\r\n .5,-2 \r\n1.,3e5") == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0,1\n0,2\n", ["t.csv:2:1: the time 0.0 does not come after 0.0"]),
        ("t,q\n0,1\n", ["t.csv:1:1: 1 rows of numbers, at least 2 are wanted"]),
        ("0,1,2\n1\n2,3\n", ["t.csv:1:1: two columns (time, value) are wanted here, not 3",
                             "t.csv:2:1: two columns (time, value) are wanted here, not 1"]),
        ("0,1\n1,nan\n2,inf\n3,1e999\n4,1_0\n5,x\n", [f"t.csv:{n}:3: '{v}' is not a finite number" for n, v in
                             ((2, "nan"), (3, "inf"), (4, "1e999"), (5, "1_0"), (6, "x"))]),
        ("a,b\nc,d\n", ["t.csv:2:1: 'c' is not a finite number", "t.csv:2:3: 'd' is not a finite number"]),
    ],
)  # fmt: skip
def test_mistakes_with_their_places(tmp_path, text, lines):
    with pytest.raises(DescriptionError) as caught:
        table(tmp_path, text)
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "").splitlines() == lines


def test_rows_wanted_by_the_caller(tmp_path):
    assert len(table(tmp_path, "0,1\n1,2\n2,1\n3,0\n", 4)[0]) == 4
    with pytest.raises(DescriptionError, match="at least 4"):
        table(tmp_path, "0,1\n1,2\n2,1\n", 4)


def test_size(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 1024)
    with pytest.raises(DescriptionError, match="t.csv:1:1: larger than 1 kB"):
        table(tmp_path, "0,1\n" * 300)


@pytest.mark.parametrize(
    "name", ["../t.csv", "/etc/passwd", "no.csv", "C:\\t.csv", "a\\..\\b", "sub", "x\0y", "x" * 9000]
)
def test_files_elsewhere(tmp_path, name):
    (tmp_path / "sub").mkdir()
    with pytest.raises(DescriptionError) as caught:
        read_table(tmp_path, name, 2)
    assert len(caught.value.mistakes) == 1


def test_a_link_out_of_the_folder(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "t.csv").write_text("0,1\n1,2\n")
    (inside / "l.csv").symlink_to(tmp_path / "t.csv")
    with pytest.raises(DescriptionError, match="leads out"):
        read_table(inside, "l.csv", 2)


def test_no_folder():
    with pytest.raises(DescriptionError, match="standard input"):
        read_table(None, "t.csv", 2)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons"]),
        ("t;q\n0;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons"]),
        ("t\tq\n0\t1\n1\t2\n", ["t.csv:2:1: columns are separated by commas, not by tabs"]),
        ("t q\n0 1\n1 2\n", ["t.csv:2:1: columns are separated by commas, not by spaces"]),
        ("t;q\n0,5;1\n1;2\n", ["t.csv:2:1: columns are separated by commas, not by semicolons, and decimals have a "
                               "point: 0.5"]),
        ("0,5\t1,25\n1\t2\n", ["t.csv:1:1: columns are separated by commas, not by tabs, and decimals have a point: "
                               "0.5"]),
        ("t,q\n0,5,1,25\n1,5,2,0\n", ["t.csv:2:1: two columns (time, value) are wanted here, not 4 (decimals have a "
                                      "point: 0.5)"]),
        ('t,q\n"0,5","1,25"\n', ["t.csv:2:1: decimals have a point: 0.5"]),
        # Commas that part columns, and other signs beside them, are no such mistake.
        ("0,1,2\n1 ,2\n", ["t.csv:1:1: two columns (time, value) are wanted here, not 3"]),
        ("0,1\n1,2 m\n", ["t.csv:2:3: '2 m' is not a finite number"]),
    ],
)  # fmt: skip
def test_other_ways_to_write_a_table(tmp_path, text, lines):
    test_mistakes_with_their_places(tmp_path, text, lines)


def test_quoted_cells(tmp_path):
    expected = ((0.0, 1.0), (2.0, 3.0))
    assert table(tmp_path, '"t [s]","q, ""of q1"""\n0,2\n1,3\n') == expected
    assert table(tmp_path, ' "t" , q\n"0" ,"2"\n1,3\n') == expected
    test_mistakes_with_their_places(tmp_path, '"t","q"\n"0","x"\n', ["t.csv:2:5: 'x' is not a finite number"])


def test_the_file_is_named_by_its_path(tmp_path, monkeypatch):
    """From where the user stands, so that an editor finds it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.csv").write_text("0,x\n")
    (tmp_path / "t.csv").write_text("0,x\n")
    for folder, name in (("sub", "sub/t.csv"), (".", "t.csv"), (tmp_path, f"{tmp_path}/t.csv")):
        with pytest.raises(DescriptionError) as caught:
            read_table(Path(folder), "t.csv", 2)
        assert str(caught.value) == f"{Path(name)}:1:3: 'x' is not a finite number"
