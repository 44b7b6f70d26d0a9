"""An app whose panes' text can be copied, and shown by the user's own programs."""

from __future__ import annotations

from textual import on, work
from textual.app import App
from textual.driver import Driver

from agentscope_tui.config import Config
from agentscope_tui.errors import UserError
from agentscope_tui.tui.outside import copy_text, open_outside
from agentscope_widgets.copying import CopyRequested, OpenRequested


class OutsideApp(App[None]):
    """Does what panes ask for with their text, on whatever screen they are."""

    def __init__(self, config: Config, driver: type[Driver] | None) -> None:
        super().__init__(driver_class=driver)
        self._config = config

    @on(CopyRequested)
    @work(group="copy")
    async def _copy(self, event: CopyRequested) -> None:
        await copy_text(self, event.text, self._config.state)

    @on(OpenRequested)
    @work(group="open outside", exclusive=True)
    async def _open(self, event: OpenRequested) -> None:
        try:
            await open_outside(self, event.text, self._config.environ)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
