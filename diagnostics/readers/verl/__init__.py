"""verl's console log: its metric lines and announcements, line by line and many at once."""
