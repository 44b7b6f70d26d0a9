"""Starting the app on a terminal or a page: what is asked before the screen opens, and what comes after."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

from textual.driver import Driver

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError
from agentscope_tui.folders import sessions_dir
from agentscope_tui.options import Options
from agentscope_tui.printable import printable
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import open_rows
from agentscope_tui.session.meta import config_of
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.reopen import recover
from agentscope_tui.trust import UntrustedFile
from agentscope_tui.tui.app import AgentScopeApp
from agentscope_tui.tui.recordings import open_named
from agentscope_tui.tui.terminal_driver import TerminalDriver


def run_app(config: Config, options: Options) -> int:
    """Open the app on a dataset or a recording; returns the exit code once it is left.

    Raises:
        UserError: the dataset, the row, the recording or the theme cannot be had.
        Exception: the defect that ended the app; the terminal is restored.
    """
    driver: type[Driver] = TerminalDriver
    if options.page is not None:
        from agentscope_tui.serve.driver import PageDriver

        driver = PageDriver
    elif config.untrusted is not None:
        config = _ask_for_trust(config, config.untrusted)
    if options.resumes is not None:
        config = _settings_of(config, options.resumes)
    app = app_of(config, options, driver)
    theme = config.settings.ui.theme
    if theme not in app.available_themes:
        raise UsageError(
            f"no theme is called {theme!r}: use one of {', '.join(sorted(app.available_themes))}"
        )
    _keep_collections_short()
    app.run(size=options.page)
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0


def _settings_of(config: Config, name: str) -> Config:
    """The settings that a session was run with; the user is asked about a stranger's."""
    config = config_of(config, SessionFolder(find_session(name, sessions_dir(config.state))))
    return config if config.untrusted is None else _ask_for_trust(config, config.untrusted)


def app_of(config: Config, options: Options, driver: type[Driver] | None = None) -> AgentScopeApp:
    """The app on what the options name.

    Raises:
        UserError: as `run_app`.
    """
    name = options.resumes or options.recording
    if name is None:
        launcher, dataset = open_rows(config, options)
        return AgentScopeApp(config, options, launcher, dataset, driver)
    fork = None
    if options.resumes is not None:
        fork = Fork(recover(find_session(name, sessions_dir(config.state))))
    opened = open_named(config, name)
    if fork is not None:
        opened.launcher.check()
    rows = () if opened.first is None else (opened.first,)
    return AgentScopeApp(
        config,
        replace(options, rows=rows),
        opened.launcher,
        opened.dataset,
        driver,
        recordings=opened.recordings,
        fork=fork,
    )


def _keep_collections_short() -> None:
    """Keys wait while garbage is collected: what is there by now is left out, the rest is seen to less often.

    Objects that the app lets go of are freed at once all the same; only those that refer to each other wait.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _ask_for_trust(config: Config, file: UntrustedFile) -> Config:
    """Ask on the plain terminal, before the screen opens: the answer decides what the screen runs."""
    keys = ", ".join(file.keys)
    print(
        f"{printable(str(file.file))} sets {printable(keys)}, which can run code or send your data elsewhere."
    )
    print("Trust this file from now on? [y/N] ", end="", flush=True)
    # Rows may be piped in: the answer is the terminal's.
    with Path("/dev/tty").open() as terminal:
        answer = terminal.readline()
    return config.with_trust() if answer.strip().lower() in ("y", "yes") else config
