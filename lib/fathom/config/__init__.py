"""All of config/: read, merged, checked, resolved."""
