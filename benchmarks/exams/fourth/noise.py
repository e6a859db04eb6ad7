"""The noise of runs: what wanders, what jumps, what a small batch does to a share."""

import numpy as np


def wander(steps: int, rng: np.random.Generator, keep: float = 0.7) -> np.ndarray:
    """A series of unit variance in which a step keeps a share of the one before."""
    out = rng.normal(size=steps)
    for i in range(1, steps):
        out[i] = keep * out[i - 1] + np.sqrt(1 - keep**2) * out[i]
    return out


def around(level: np.ndarray | float, spread: float, steps: int, rng: np.random.Generator) -> np.ndarray:
    """A positive level with log-normal noise, half of it wandering."""
    noise = 0.7 * wander(steps, rng) + 0.7 * rng.normal(size=steps)
    return np.asarray(level * np.exp(spread * noise))


def between(level: float, mild: float, gross: float) -> float:
    """From mild (0) to gross (1), evenly in the logarithm; both of one sign."""
    sign = 1.0 if mild > 0 else -1.0
    return float(sign * np.exp(np.log(abs(mild)) * (1 - level) + np.log(abs(gross)) * level))


def share_noise(share: np.ndarray, prompts: int, rng: np.random.Generator) -> np.ndarray:
    """Shares of right answers as a batch of prompts shows them, with a difficulty that wanders."""
    size = np.sqrt(np.clip(share * (1 - share), 1e-4, None) / prompts)
    return np.asarray(np.clip(share + size * (0.6 * wander(len(share), rng) + 0.9 * rng.normal(size=len(share))), 0, 1))
