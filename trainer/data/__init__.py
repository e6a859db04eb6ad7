"""Data for training: arithmetic word problems, GSM8K, and the check of any file against verl's schema."""
