"""Linear models: poles and their error bars, verdicts, Floquet multipliers."""
