"""Equilibria under dead loads, their stability and compliance."""
