"""verl's config as data: its keys, what a run's settings mean, whether an override would be accepted."""
