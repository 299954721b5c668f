"""Model files: the exchange format of the standard, and what Archi writes and reads."""
