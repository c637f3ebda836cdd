"""What is looked at in a file beyond its form, and the report of every mistake with its place."""
