"""Objectives whose rows are in parts, on a cluster or on disk."""
