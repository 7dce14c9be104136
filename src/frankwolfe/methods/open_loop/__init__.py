"""Methods that keep one iterate and a few vectors, and no list of atoms."""
