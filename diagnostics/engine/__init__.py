"""Judging a run by cards: findings, incidents, vital signs, what caused what, and what to change."""
