"""Files of results: records, verification, archives."""
