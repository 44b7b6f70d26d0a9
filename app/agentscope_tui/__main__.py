"""`python -m agentscope_tui` is the command `agentscope`."""

from __future__ import annotations

import sys

from agentscope_tui.cli import main

sys.exit(main())
