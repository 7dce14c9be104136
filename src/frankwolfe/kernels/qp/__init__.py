"""Small quadratic programs on the simplex and on the l1 ball."""
