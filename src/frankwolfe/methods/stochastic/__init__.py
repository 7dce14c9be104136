"""Methods that look at a random part of the rows, or of the blocks, at a time."""
