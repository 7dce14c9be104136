"""Compiled passes over the rows of linear models: dense, sparse and byte-wide data, by rows and by columns."""
