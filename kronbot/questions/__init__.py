"""One module a question: what it takes, what is traced, how its answer reads."""
