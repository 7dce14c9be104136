"""The largest singular value of a matrix known by its products, with bounds that hold."""
