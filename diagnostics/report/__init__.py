"""Saying it: the words of a diagnosis, and the formats it is written in, one a file."""
