"""Rules of the house: imports go down, libraries stay in their homes, no evaluation of text as code."""

import ast
import re
import subprocess
import sys
import zipfile
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from inspect import signature
from pathlib import Path

import pytest
from fuzzing.test_source_code import ALLOWED, dangers

import kronbot
from kronbot import description
from kronbot.description import shipped_robots
from kronbot.library.robot import Robot

PACKAGE = Path(kronbot.__file__).parent
ROOT = Path(__file__).parents[1]
MODULES = sorted(PACKAGE.rglob("*.py"))
# A floor may import itself and the floors after it.
UPPER, LOWER = "cli library sweeps plots questions mechanics compute", "kronecker model description system errors"
FLOORS = [*UPPER.split(), *LOWER.split(), "cached", "kinds", "records", "version"]
HOMES = {
    "sympy": {f"compute/symbolic/{name}.py" for name in ("closed_form", "instructions", "printers")},
    "yaml": {"description/yaml/composing.py"},
    "click": {"cli"},
    "rich": {"cli"},
}


def named(path):
    """The module's name in Python, a folder's without __init__."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


NAMES = {named(path) for path in MODULES}


@cache
def nodes(path):
    """All of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path):
    """Dotted names of modules that a file imports, anywhere in it."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            found += [name if name in NAMES else node.module for name in inner]
    return found


def place(path):
    return path.relative_to(PACKAGE).as_posix()


def test_imports_go_down():
    """A floor imports the floors below it."""
    upward = []
    for path in MODULES:
        floor = place(path).split("/")[0].removesuffix(".py")
        if floor not in FLOORS:
            continue  # the package's face and its entry point may name any floor
        for name in imports(path):
            parts = name.split(".")
            known = parts[0] == "kronbot" and len(parts) > 1 and parts[1] in FLOORS
            if known and FLOORS.index(parts[1]) < FLOORS.index(floor):
                upward.append(f"{place(path)} imports {name}")
    assert upward == []


def test_the_source_never_runs_text():
    """No eval and its like, no unpickling, no shell, no loader of YAML but the strict one; exceptions have a reason."""
    found = {(place(path), danger) for path in MODULES for danger in dangers(nodes(path))}
    assert found - set(ALLOWED) == set()


def circle(graph):
    """Modules that need each other, in a row that ends where it begins; none where there is no such row."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_needs_itself():
    """Not by way of others either, whether it imports at once, inside a function or for the type checker only."""
    needed = {named(path): set(imports(path)) - {named(path)} for path in MODULES}
    assert circle(needed) == []
    assert circle({**needed, "kronbot.version": {"kronbot.cli.main"}})


def test_folders_say_what_they_hold():
    """In a line or more at the top of ``__init__.py``."""
    for folder in {path.parent for path in MODULES}:
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert said is not None and len(said.split()) > 2, folder


def test_tests_stand_in_the_rooms_of_what_they_test():
    """Besides them benchmarks, fuzzing and data of papers."""
    rooms = {path.parent.name for path in Path(__file__).parent.glob("*/test_*.py")}
    assert rooms - set(FLOORS) == {"bench", "fuzzing"}


def test_libraries_stay_in_their_homes():
    """Only cli knows click and rich, three modules know SymPy."""
    strays = [
        f"{place(path)} imports {name}"
        for path in MODULES
        for name in imports(path)
        for library, homes in HOMES.items()
        if name.split(".")[0] == library and not any(place(path).startswith(home) for home in homes)
    ]
    assert strays == []


def test_what_is_traced_is_kept_for_its_robot():
    """By it, since relatives share its parameters: with other controllers, contacts or symbols."""
    told = {place(path) for path in MODULES if re.search(r"parameters\.(kept|own)\b", path.read_text())}
    assert told == {"model/shared.py", "mechanics/multibody/damping.py"}  # what is of all of them alike


def test_dataclasses_are_records():
    """Those of the library take half a millisecond each at every start."""
    slow = re.compile(r"^\s*from dataclasses import .*\bdataclass\b", re.M)
    assert [place(path) for path in MODULES if slow.search(path.read_text())] == ["records.py"]


def test_text_is_never_evaluated_as_code():
    """No eval, exec, compile, sympify, parse_expr or lambdify on anything; CasADi calls a method of that name."""
    forbidden = re.compile(r"(?<!def )\b(eval|exec|sympify|parse_expr|lambdify|__import__)\(")
    assert [place(path) for path in MODULES if forbidden.search(path.read_text())] == []


def test_lapack_sees_finite_numbers():
    """Where it seeks singular values, or SciPy would raise an error of its own: of others it goes on for ever."""
    apart = {"expm", "solve_sylvester"}
    seeking = {f"np.linalg.{word}": count for word, count in {"svd": 1, "pinv": 1, "cond": 1, "lstsq": 2}.items()}
    strays = []
    for path in MODULES:
        sources = (node for node in nodes(path) if isinstance(node, ast.ImportFrom) and node.module == "scipy.linalg")
        others = {alias.name for source in sources for alias in source.names} - apart
        for node in nodes(path):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                spectral = name == "np.linalg.norm" and len(node.args) > 1
                count = seeking.get(name, int(spectral or name in others))
                strays += [
                    f"{place(path)}:{node.lineno}: {name}"
                    for given in node.args[:count]
                    if not ast.unparse(given).startswith("all_finite(")
                ]
                assert not re.search(r"linalg\.(matrix_rank|svdvals|matrix_norm)", name), path
    assert strays == []


def test_options_are_the_words_of_the_command_line():
    """Below it messages name arguments, which each face says in its own way."""
    named = [
        f"{place(path)}:{node.lineno}"
        for path in MODULES
        if not place(path).startswith("cli/")
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"(^|[ ({])--[a-z]", node.value)
    ]
    assert named == []


def test_messages_name_arguments_as_such():
    """Not in plain text, which the command line would say as it is: ``effort_limits``, where its option has a dash."""
    asked = {name for each in vars(Robot).values() if callable(each) for name in signature(each).parameters}
    words = re.compile(rf"\b({'|'.join(name for name in asked if '_' in name.strip('_'))})\b")
    plain = []
    for path in MODULES:
        if place(path).split("/")[0] in ("library", "questions", "sweeps"):
            for node in nodes(path):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    for text in node.exc.args:
                        first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                        said = first.value if isinstance(first, ast.Constant) else ast.unparse(first)
                        if isinstance(text, ast.JoinedStr | ast.Constant) and words.search(f" {said}"):
                            plain.append(f"{place(path)}:{node.lineno}: {said}")
                        if ast.unparse(first) == "{word}" or ast.unparse(text).startswith(("f'{word}", 'f"{word}')):
                            plain.append(f"{place(path)}:{node.lineno}: word")
    assert plain == []


def test_messages_name_no_calls_of_the_library():
    """Those that the command line may say, too; what only the library says stands beside its name."""
    named = [
        f"{place(path)}: {node.value}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"pathlib\.|kronbot\.load|\b(answer|result|robot)\.[a-z]+[(\[]|\bnumpy\b.* wanted", node.value)
        and node.value.count("\n") == 0
        and not node.value.endswith(".")
    ]
    assert named == [
        "__init__.py: kronbot.load takes those",
        "description/yaml/source.py: kronbot.loads takes text, the command line reads it from stdin (-)",
        "questions/result.py: ; it is a number of the summary: answer.summary[",
    ]


def test_modules_stay_small():
    """Beyond 350 lines a module wants a reason, which stands here; a cut in two is none."""
    reasons = {
        "library/arguments.py": "every kind of argument once, a function each",
        "library/robot.py": "one class, a method a question",
        "model/beam.py": "one class, the flexible link",
    }
    large = {place(path) for path in MODULES if path.read_text().count("\n") > 350}
    assert large == set(reasons)


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_shipped_robots_load(name):
    """Each says where its numbers come from, in a comment and in `source`."""
    text = shipped_robots()[name].read_text()
    assert text.startswith("# ")
    robot = description.load(description.read(name)).robot
    assert robot.name == name
    assert robot.source


@pytest.mark.slow
def test_robots_ship_inside_the_package(tmp_path):
    """What is installed, or built as a wheel, holds every robot, and kronbot finds them there from anywhere."""
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the tests do not stand in a checkout")
    site = Path(kronbot.__file__).parents[1]
    if site == ROOT:
        isolated = [] if find_spec("hatchling") is None else ["--no-build-isolation"]  # what builds it is at hand
        build = ["-m", "pip", "wheel", "--no-deps", *isolated, "--quiet", "-w", str(tmp_path), str(ROOT)]
        subprocess.run([sys.executable, *build], check=True, capture_output=True)
        (wheel,) = tmp_path.glob("*.whl")
        site = tmp_path / "site"
        zipfile.ZipFile(wheel).extractall(site)
    robots = {path.stem for path in (site / "kronbot" / "robots").glob("*.yaml")}
    assert robots == {path.stem for path in (ROOT / "robots").glob("*.yaml")}
    script = f"import sys; sys.path.insert(0, {str(site)!r}); from kronbot.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "check", "canadarm"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_robots_beside_the_package_are_found(tmp_path):
    """An editable install sees robots/ beside the package folder."""
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "mine.yaml").write_text("kronbot: 1\n")
    (tmp_path / "kronbot").mkdir()
    assert shipped_robots(tmp_path / "kronbot") == {"mine": tmp_path / "robots" / "mine.yaml"}
