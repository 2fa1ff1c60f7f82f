"""Evidence that takes long: its tables stand in the documentation."""
