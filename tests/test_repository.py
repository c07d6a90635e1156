"""What holds for the repository as a whole: paths, one-way imports, explained requirements."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from attnviz.files.extras import EXTRAS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attnviz"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 350
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    ".streamlit",
    "LICENSE",
    "Makefile",
    "README.md",
    "app.py",
    "attnviz",
    "docs",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements.txt",
    "tests",
}

# What each room may import: other rooms, and packages besides the standard library.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    "core": (set(), {"numpy"}),
    "parsing": ({"core"}, {"numpy"}),
    "tables": ({"core", "parsing"}, {"numpy", "pandas"}),
    "files": (
        {"core", "parsing", "tables"},
        {"numpy", "PIL", "xlsxwriter", "nbformat", "safetensors"},
    ),
    "figures": ({"core"}, {"numpy", "plotly"}),
    "ui": ({"core", "parsing", "tables", "files", "figures"}, {"numpy", "pandas", "streamlit"}),
    "__init__": ({"core", "files", "figures"}, set()),
}


def room(path: Path) -> str:
    """The room of a module: its folder in the package, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(source: str) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def trespasses(path: Path, source: str) -> list[str]:
    """The imports of a module that its room may not have."""
    own = room(path)
    rooms, packages = ROOMS[own]
    found = []
    for name in imports(source):
        first, *rest = name.split(".")
        if first == "attnviz":
            allowed = bool(rest) and rest[0] in {own, *rooms}
        else:
            allowed = first in packages or first in sys.stdlib_module_names
        if not allowed:
            found.append(name)
    return found


def uses_session_state(source: str) -> bool:
    """Whether code (not prose) reaches for Streamlit's session state."""
    for node in ast.walk(ast.parse(source)):
        names = {
            getattr(node, field, None) for field in ("attr", "id", "name", "value")
        }  # st.session_state, an imported session_state, getattr(st, "session_state")
        if "session_state" in {name for name in names if isinstance(name, str)}:
            return True
    return False


def tree() -> list[Path]:
    """The files of the repository: those that git knows, or would once they are added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    else:  # an unpacked archive: everything but what the tools leave behind
        skip = re.compile(
            r"(^|/)(\.git|\.venv|\.hypothesis|\.\w+_cache|__pycache__|.*egg-info)(/|$)"
        )
        paths = [p for p in ROOT.rglob("*") if not skip.search(p.relative_to(ROOT).as_posix())]
    return [path for path in paths if path.is_file()]


def texts() -> Iterator[tuple[str, str]]:
    """Name and text of every file that is text."""
    for path in tree():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


# Written in pieces, so that this file does not contain what it looks for.
FORBIDDEN = {
    "a folder outside of the repository": re.compile(r"\.\./" + "shared"),
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:" + r"work|root|home|Users)/\w"),
    "a scratch folder": re.compile(r"(?<![\w.-])/" + r"tmp\b"),
    "a registry's host": re.compile(
        r"(?:pypi|pythonhosted|npmjs|debian|yarnpkg|jsdelivr|unpkg|cdnjs)" + r"\.(?:org|com|net|io)"
    ),
}


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_no_file_mentions(kind: str) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if FORBIDDEN[kind].search(line)
    ]
    assert found == []


def test_forbidden_patterns_catch_what_they_are_for() -> None:
    samples = {
        "a folder outside of the repository": "see .." + "/shared/x.md",
        "a path of one machine": "open('/" + "work/main')",
        "a scratch folder": "cd /" + "tmp/w",
        "a registry's host": "https://" + "pypi" + ".org/simple",
    }
    assert samples.keys() == FORBIDDEN.keys()
    for kind, sample in samples.items():
        assert FORBIDDEN[kind].search(sample), kind


def test_top_level_holds_only_what_belongs_there() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tree()} <= TOP_LEVEL


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    assert trespasses(path, path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("core/ops.py", "import pandas"),
        ("core/ops.py", "from attnviz.tables import to_frame"),
        ("core/ops.py", "def f():\n    import streamlit as st"),
        ("figures/draw.py", "from attnviz.ui import state"),
        ("figures/draw.py", "import streamlit"),
        ("files/share.py", "import plotly.graph_objects as go"),
        ("ui/page.py", "from attnviz import run"),
    ],
)
def test_a_wrong_import_is_seen(where: str, source: str) -> None:
    assert len(trespasses(PACKAGE / where, source)) == 1


def test_session_state_is_touched_in_one_module() -> None:
    paths = [*MODULES, ROOT / "app.py"]
    users = [path for path in paths if uses_session_state(path.read_text("utf-8"))]
    assert users == [PACKAGE / "ui" / "state.py"]


@pytest.mark.parametrize(
    "source",
    ["st.session_state", "from streamlit import session_state", "getattr(st, 'session_state')"],
)
def test_use_of_session_state_is_seen(source: str) -> None:
    assert uses_session_state(source)
    assert not uses_session_state('"""Only prose on st.session_state."""')


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_modules_stay_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("attnviz.core", {"pandas", "plotly", "streamlit"}),
        ("attnviz", {"streamlit"}),
        ("attnviz.tables", {"plotly", "streamlit"}),
        ("attnviz.figures", {"streamlit"}),
        (
            "attnviz.files.exports",
            {"pandas", "PIL", "plotly", "streamlit", "xlsxwriter", "nbformat", "safetensors"},
        ),
    ],
)
def test_import_in_a_clean_process_loads_no_more_than_it_needs(
    module: str, unwanted: set[str]
) -> None:
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "attnviz" in loaded
    assert loaded & unwanted == set()


@pytest.mark.parametrize("name", ["attnviz", "attnviz.core"])
def test_public_names_exist(name: str) -> None:
    module = importlib.import_module(name)
    names = module.__all__
    assert len(set(names)) == len(names)
    assert [each for each in names if not hasattr(module, each)] == []


def required(name: str) -> dict[str, tuple[Requirement, str]]:
    """The dependencies of a requirements file with the reason behind each."""
    found = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line and not line.startswith(("#", "-r ")):
            spec, _, reason = line.partition("#")
            requirement = Requirement(spec)
            found[requirement.name] = (requirement, reason.strip())
    return found


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_each_requirement_has_a_reason_and_a_tested_lower_bound(name: str) -> None:
    requirements = required(name)
    assert requirements
    for package, (requirement, reason) in requirements.items():
        assert len(reason.split()) >= 3, f"{package} needs a reason"
        bounds = [spec for spec in requirement.specifier if spec.operator == ">="]
        assert len(bounds) == 1, f"{package} needs one lower bound"
        assert Version(bounds[0].version) <= Version(version(package))


def test_users_install_no_test_tools_but_pytest() -> None:
    assert required("requirements.txt").keys() == {
        "streamlit",
        "numpy",
        "plotly",
        "pandas",
        "pillow",
        "pytest",
        *EXTRAS.values(),
    }


def test_package_metadata_agrees_with_the_requirements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {str(r) for name, (r, _) in required("requirements.txt").items() if name != "pytest"}
    assert {str(Requirement(line)) for line in project["dependencies"]} == wanted


def test_each_library_is_required_in_one_place() -> None:
    assert required("requirements.txt").keys() & required("requirements-dev.txt").keys() == set()


def test_libraries_of_single_formats_are_loaded_only_where_they_are_used() -> None:
    loaded = {name.split(".")[0] for path in MODULES for name in imports(path.read_text("utf-8"))}
    assert loaded & EXTRAS.keys() == set()
