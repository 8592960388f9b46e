"""All of config/: loaded, checked, and handed out."""
