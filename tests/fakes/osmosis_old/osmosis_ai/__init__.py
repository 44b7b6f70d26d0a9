"""A stand-in for the Osmosis SDK 0.2 (old agent contract), as far as agents see it."""
