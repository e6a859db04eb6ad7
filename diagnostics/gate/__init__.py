"""Gates for CI: requirements of a run, two runs side by side, a ward of labelled recordings."""
