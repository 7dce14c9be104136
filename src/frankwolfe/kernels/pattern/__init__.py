"""Matrices known on a fixed pattern of positions, and products with them."""
