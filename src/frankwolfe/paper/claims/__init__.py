"""What the paper claims, and the verdicts on it."""
