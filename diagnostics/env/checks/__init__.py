"""One file a check: `lines(machine)` gives its lines; files are found by name and run in its order."""
