"""The stage of the screen tests, for pictures."""

from pytest_textual_snapshot import SVGImageExtension

from screens.conftest import stage

__all__ = ["stage"]

# The plugin names it as syrupy 4 did; with syrupy 5 the pictures would be `.raw`.
SVGImageExtension.file_extension = "svg"
