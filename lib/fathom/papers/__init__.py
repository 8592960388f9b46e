"""Papers as data: tables, columns, deviations."""
