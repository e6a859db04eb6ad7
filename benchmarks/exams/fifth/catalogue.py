"""All that is wrong in the fifth paper."""

from . import learned, measured

FAULTS = learned.FAULTS + measured.FAULTS
