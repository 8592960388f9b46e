"""Tables, figures, claims and pages, from measurements."""
