"""What readers of text share: clean frames, numbers as printed, rows and blocks, configs, envelopes round lines."""
