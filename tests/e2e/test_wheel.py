"""The wheel: built, installed where no checkout is near, and run from another folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from agentscope_tui import __version__
from e2e.terminal import environment

ROOT = Path(__file__).resolve().parents[2]


def run(folder: Path, *words: str | Path) -> str:
    environ = {name: value for name, value in environment(folder).items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; of this one it sees only what the wheel depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    run(folder, sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(folder, sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(folder, sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    found = run(folder, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    # A plain path: the editable installation that lies there stays out of sight.
    (Path(found.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "venv" / "bin"


def test_the_wheel_works_from_another_folder(installed: Path, tmp_path: Path):
    command = installed / "agentscope"
    assert run(tmp_path, command, "--version") == f"agentscope {__version__}\n"
    where = run(tmp_path, installed / "python", "-c", "import agentscope_tui; print(agentscope_tui.__file__)")
    assert where.startswith(str(installed.parent))
    assert "calls: 60  # default" in run(tmp_path, command, "config")
    assert "reward" in run(tmp_path, command, "run", "--row", "0")
    assert "</html>" in run(tmp_path, command, "export", "last", "--html")
    styles = "from agentscope_tui.tui.app import AgentScopeApp as A; print(len(A.CSS_PATH))"
    assert int(run(tmp_path, installed / "python", "-c", styles)) == len(list(ROOT.glob("styles/*.tcss")))
