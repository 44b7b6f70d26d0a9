"""What came of runs: in numbers, as text, as a page, as tables, and one run beside another."""
