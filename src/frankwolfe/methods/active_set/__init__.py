"""Methods that keep the iterate as a convex combination of atoms, or move weight between vertices."""
