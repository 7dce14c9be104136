"""frankwolfe."""
