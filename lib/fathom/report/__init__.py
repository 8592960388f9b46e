"""What the report says around tables and figures."""
