"""The quick ways through records: shapes that repeat, and the compiled package klinic-native where it is installed."""
