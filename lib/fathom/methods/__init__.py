"""One file a method: equations as pure functions, then the class that wires them to the hooks."""
