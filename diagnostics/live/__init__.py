"""A run while it grows: followed, judged, looked at again and again, stopped for a finding."""
