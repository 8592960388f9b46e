"""The page of one paper; a template lays out each part of it."""
