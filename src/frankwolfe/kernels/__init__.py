"""Inner loops: sparse matrices on a fixed pattern, and Lanczos for the largest singular value."""
