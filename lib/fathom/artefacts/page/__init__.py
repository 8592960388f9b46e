"""The page of one paper: each part is a module and a template of the same name."""
