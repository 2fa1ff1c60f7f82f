"""What formulations share: protocols and outcome of a step, where it acts, its laws, and how it is posed."""
