"""Sessions written as files of other tools, and of ours: see `formats.py` for which there are."""
