"""What `klinic env --deep` tries out, each in a process of its own: a function that says what it saw, or raises."""
