"""Rows of data: one file for each place where they can live."""
