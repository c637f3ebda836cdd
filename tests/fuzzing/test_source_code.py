"""What in a source runs text, unpacks objects or starts programs, and where there is a reason for it."""

import ast

import pytest

CALLS = {"eval", "exec", "compile", "__import__", "sympify", "parse_expr", "lambdify", "S", "execfile", "literal_eval"}
OF_OS = {"system", "popen", "startfile"}
OF_YAML = {"parse", "CSafeLoader", "SafeLoader"}  # and events and errors: the parser only, nothing that makes objects
LIBRARIES = {
    "pickle", "marshal", "shelve", "dill", "joblib", "runpy", "code", "codeop", "importlib", "ctypes", "cffi",
    "subprocess", "pty", "socket", "urllib", "http", "ftplib", "xmlrpc", "webbrowser", "multiprocessing", "xml",
    "requests", "tarfile",
}  # fmt: skip
ALLOWED = {
    ("cli/main.py", "importlib"): "imports the command of a name in a fixed list",
    ("cli/output/answers.py", "importlib"): "imports the module of a question, which has the name of its command",
    (
        "description/described.py",
        "importlib",
    ): "imports what reads robot files, by a fixed name, when one is read again",
    ("model/robot.py", "importlib"): "names what builds models, by a fixed name, for a model that is pickled",
    ("system/importing.py", "importlib"): "imports modules of packages, and libraries, by names in the source",
    ("plots/page/pages.py", "webbrowser"): "shows a page that was just written, where somebody asks for it",
    ("records.py", "compile"): "makes initializers of classes, from names that it makes itself",
    ("system/plain.py", "socket"): "a pair within the process, where a pipe cannot be waited for",
    ("system/supervised.py", "subprocess"): "runs the compiler, and the trial of what it made, by lists of words",
    ("compute/native/kernel.py", "ctypes"): "calls what native.py has compiled and found in its private cache",
    ("compute/native/trial.py", "ctypes"): "calls what was just compiled, in a process of its own, before kronbot does",
    ("system/posix.py", "ctypes"): "asks the C library for a last word before native code ends the process",
    ("cli/commands/sweep.py", "importlib"): "imports the commands of questions, by names in a fixed list",
    ("sweeps/kept.py", "importlib"): "imports the questions, by names in a fixed list, for what they may answer",
    ("sweeps/work.py", "importlib.metadata"): "reads the versions of libraries",
    ("sweeps/work.py", "pickle"): "sends a task to processes of the same sweep; a journal holds none",
    ("compute/remembered.py", "pickle"): "reads what it has put into its private cache, checked as code is that is run",
    ("compute/remembered.py", "importlib.util"): "looks where CasADi and NumPy are installed",
    ("sweeps/archive.py", "np.load"): "reads the key of a finished sweep, without pickles",
    ("sweeps/engines/worker.py", "multiprocessing.connection"): "answers the driver that has started it",
    **{
        ("sweeps/engines/local.py", name): "starts the processes of a sweep"
        for name in ("multiprocessing", "multiprocessing.connection", "multiprocessing.context")
    },
    ("description/urdf/elements.py", "xml.parsers"): "expat, the parser alone, without entities or external files",
}


def dangers(nodes):
    """What in a syntax tree runs text, unpacks objects, starts programs or talks to other machines."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if (
                (name in CALLS and (owner, name) != ("re", "compile"))
                or (owner == "os" and (name in OF_OS or name.startswith(("exec", "spawn", "posix_spawn"))))
                or (owner in ("np", "numpy") and name in ("load", "fromregex", "genfromtxt"))
            ):
                yield f"{owner}.{name}"
            case ast.Attribute(value=ast.Name(id="yaml"), attr=name) if name not in OF_YAML and not name.endswith(
                ("Event", "Error")
            ):
                yield f"yaml.{name}"
            case ast.keyword(arg="shell" | "allow_pickle" as name, value=value) if ast.unparse(value) != "False":
                yield name
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name.split(".")[0] in LIBRARIES)
            case ast.ImportFrom(module=str(module), names=names):
                if module.split(".")[0] in LIBRARIES:
                    yield module
                yield from (alias.name for alias in names if alias.name in CALLS or module == "yaml")


DANGEROUS = [
    "eval(x)", "exec(x)", "compile(x, '', 'eval')", "builtins.eval(x)", "__import__('os')", "sympy.sympify(x)",
    "from sympy import sympify", "sympy.S(x)", "sympy.lambdify(x, y)",
    "from sympy.parsing.sympy_parser import parse_expr", "import pickle", "import pickle as p",
    "from pickle import loads", "import os, subprocess", "import xml.dom.minidom", "import importlib.util",
    "yaml.load(x)", "yaml.load(x, Loader=yaml.FullLoader)", "yaml.unsafe_load(x)", "yaml.safe_load(x)",
    "from yaml import load", "os.system(x)", "os.popen(x)", "os.execv(x, y)", "os.spawnlp(x)", "run(x, shell=True)",
    "run(x, shell=y)", "f(x, allow_pickle=True)", "np.load(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", DANGEROUS)
def test_dangers_are_seen(text):
    assert list(dangers(ast.walk(ast.parse(text))))


@pytest.mark.parametrize(
    "text",
    ["re.compile(x)", "yaml.parse(x)", "yaml.ScalarEvent", "f(x, allow_pickle=False)", "evaluate(x)", "os.open(x)"],
)
def test_the_rest_is_none(text):
    assert not list(dangers(ast.walk(ast.parse(text))))
