"""The divisors of numbers that a log or config names, whatever they are."""

from __future__ import annotations

import math

MOST = 10**10  # its divisors are found within 100 000 tries


def divisors_of(number: int) -> list[int]:
    """All divisors of a whole number, the smallest first. Raises ValueError below 1 and above `MOST`."""
    if not 1 <= number <= MOST:
        raise ValueError(f"{number} is not from 1 to {MOST}")
    low = [one for one in range(1, math.isqrt(number) + 1) if number % one == 0]
    return sorted({*low, *(number // one for one in low)})
