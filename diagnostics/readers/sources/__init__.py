"""Where bytes come from: files in blocks, compressed or in UTF-16, and runs that other machines hold."""
