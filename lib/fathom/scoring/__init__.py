"""What is measured of translations and text."""
