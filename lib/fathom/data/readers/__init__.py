"""One file for each format in which parallel text is published."""
