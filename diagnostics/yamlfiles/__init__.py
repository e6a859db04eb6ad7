"""YAML as cards are written and as others write it, and what is remembered of it."""
