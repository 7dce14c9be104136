"""Polytopes: by a formula for the best vertex, by an assignment or a shortest path, or by a linear programme."""
