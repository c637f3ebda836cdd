"""Parameters from measurements: weighted least squares with priors, and what data can tell of a parameter."""
