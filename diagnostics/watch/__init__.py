"""Watching a run: what is shown of each look, who is told, when to leave."""
