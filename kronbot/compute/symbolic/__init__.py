"""Traced functions as formulas."""
