"""The fourth exam paper: worlds simulated anew, recordings as they are, other loggers, other faults and other sizes."""
