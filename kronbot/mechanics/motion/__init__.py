"""Driven motion in time: equations and integrators."""
