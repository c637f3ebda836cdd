"""Traced functions as native code: compiled where it pays, kept in a private cache."""
