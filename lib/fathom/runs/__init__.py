"""What a run is: its settings, how they resolve, its identity and its files."""
