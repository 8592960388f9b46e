"""One file or folder for each method: equations as functions, and a class that overrides hooks."""
