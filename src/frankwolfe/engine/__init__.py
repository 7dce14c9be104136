"""How steps are taken: several at a time in a CUDA graph, or compiled by JAX."""
