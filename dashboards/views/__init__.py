"""Pieces of pages: functions of a run's entry and a look that give Dash components; the HTML report uses them too."""
