"""YAML files read with the line of each key, and schema errors as messages."""
