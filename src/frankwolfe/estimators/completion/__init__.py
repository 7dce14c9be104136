"""The recommender: ratings as users bring them, radii tried on held-out ones, and the estimator on top."""
