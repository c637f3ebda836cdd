"""Numbers and expressions of robot files: their grammar, values and exact angles."""
