"""The version, which every floor may name."""

__version__ = "0.10.0"
