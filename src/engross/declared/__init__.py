"""Declared flows: capability documents in YAML, read, checked, compiled and run."""
