"""The walls between the parts: the engine knows no screen, the widgets know no engine."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ("session", "wire", "runners", "models", "tools", "datasets", "grading", "store", "batch")
APP = ROOT / "app" / "agentscope_tui"
SHARED = ("agentscope_widgets.safe_text", "agentscope_widgets.sgr")
"""What makes text from outside safe, for every sink, and what its colours mean: they know no screen."""
WIDGETS = ROOT / "widgets" / "agentscope_widgets"


def imports(file: Path, package: str) -> set[str]:
    """The modules that a file imports, absolute, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package if node.level else ""
            found.add(".".join(part for part in (base, node.module) if part))
            if node.module in (None, "agentscope_tui", "agentscope_widgets"):
                found |= {f"{node.module or package}.{alias.name}" for alias in node.names}
    return found


def offenders(files: list[Path], package: str, *forbidden: str) -> list[str]:
    assert files
    return [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files
        for module in sorted(imports(file, package))
        if module not in SHARED and any(module == name or module.startswith(f"{name}.") for name in forbidden)
    ]


@pytest.mark.parametrize("part", ENGINE)
def test_the_engine_imports_no_screen(part: str) -> None:
    files = sorted((APP / part).rglob("*.py"))
    screen = ("textual", "rich", "agentscope_widgets", "agentscope_tui.tui")
    assert offenders(files, f"agentscope_tui.{part}", *screen) == []


def test_the_files_beside_the_engine_import_no_screen_either() -> None:
    files = [APP / name for name in ("events.py", "bus.py", "clock.py", "errors.py")]
    assert offenders(files, "agentscope_tui", "textual", "rich", "agentscope_widgets") == []


def test_the_widgets_import_no_engine() -> None:
    files = sorted(WIDGETS.rglob("*.py"))
    assert offenders(files, "agentscope_widgets", "agentscope_tui") == []


def test_only_the_screens_know_both() -> None:
    outside = [file for file in sorted(APP.rglob("*.py")) if (APP / "tui") not in file.parents]
    assert offenders(outside, "agentscope_tui", "agentscope_widgets") == []


@pytest.mark.parametrize(
    "module",
    [
        "agentscope_tui.session.session",
        "agentscope_tui.session.state",
        "agentscope_tui.runners.builtin",
        "agentscope_tui.store.recorder",
        "agentscope_tui.bus",
        "agentscope_widgets.safe_text",
        "agentscope_widgets.sgr",
        "agentscope_tui.store.export.html",
    ],
)
def test_importing_the_engine_loads_no_screen(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(ran.stdout.split())
    assert module.partition(".")[0] in loaded
    assert not loaded & {"textual", "rich", "httpx", "yaml"}
