"""The trainer's commands: train, stop, reward, data."""
