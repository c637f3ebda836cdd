"""Sweeps: one question about many robots, what is varied, kept and remembered, and the engines that compute it."""
