"""Classes that describe each kind of YAML file."""
