"""Text: fetched, cleaned, split, cut into pieces, encoded."""
