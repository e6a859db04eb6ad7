"""Many runs at once: judged on several cores, and remembered until a file or a rule changes."""
