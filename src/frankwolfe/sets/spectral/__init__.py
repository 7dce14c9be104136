"""Sets of matrices that are described by their singular values or eigenvalues."""
