"""Methods for matrices of low rank on the nuclear-norm ball."""
