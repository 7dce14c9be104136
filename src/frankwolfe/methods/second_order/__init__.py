"""Methods that use the curvature of the objective."""
