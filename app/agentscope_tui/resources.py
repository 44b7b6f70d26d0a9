"""Where the files that are no code lie: `styles/` and `configs/`, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def styles_dir() -> Path:
    """The folder of the style sheets."""
    return _folder("styles")


def configs_dir() -> Path:
    """The folder of `default.yaml` and of what else is configuration."""
    return _folder("configs")


def default_settings() -> Path:
    """The file that holds the default of every setting."""
    return configs_dir() / "default.yaml"


def runner_profiles() -> Path:
    """What is known of kinds of runners."""
    return configs_dir() / "runners.yaml"


def keymaps_dir() -> Path:
    """The folder of the keymaps."""
    return configs_dir() / "keymaps"


def demo_dataset() -> Path:
    """The rows that open when no dataset is named."""
    return configs_dir() / "demo" / "tasks.jsonl"


def demo_script() -> Path:
    """What the scripted model says in the demo."""
    return configs_dir() / "demo" / "script.yaml"


def starter_files() -> list[Path]:
    """What `agentscope init` writes, in the order in which one reads it."""
    folder = configs_dir() / "starter"
    return [folder / name for name in ("agent.py", "tasks.jsonl", "agentscope.yaml", "script.yaml")]


def _folder(name: str) -> Path:
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / name
