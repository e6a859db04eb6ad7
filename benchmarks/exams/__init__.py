"""Exams for the diagnosis: faults and stress injected into healthy recordings, and what is made of them."""
