"""The stage of the screen tests: real sessions, here without a screen."""

from screens.conftest import stage

__all__ = ["stage"]
