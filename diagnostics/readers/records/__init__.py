"""What readers of records share: JSON values, framings of event files and stores, names of metrics."""
