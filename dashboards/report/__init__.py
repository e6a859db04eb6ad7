"""The HTML report: one self-contained file with the same pictures and pieces as the dashboard."""
