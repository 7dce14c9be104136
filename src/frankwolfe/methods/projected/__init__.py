"""Gradient methods: with projections, without a set, and with projections done by conditional gradients."""
