"""What the command line gives: options, values, rows of files, completion."""
