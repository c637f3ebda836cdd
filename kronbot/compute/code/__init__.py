"""Traced functions as routines that stand alone: in C, in Python."""
