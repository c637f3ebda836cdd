"""The compute floor: traced expressions as callables and results with names and units."""
