"""Files: atomic writes, hashes, metrics and series."""
