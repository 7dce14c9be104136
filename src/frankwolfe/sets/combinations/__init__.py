"""Sets made from other sets: sums, products, hulls of unions, and images under linear maps."""
