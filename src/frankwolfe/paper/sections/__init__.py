"""The sections of the reproduction: each lists its pieces of work and draws what came out."""
