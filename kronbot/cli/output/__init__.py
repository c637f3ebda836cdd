"""What the command line writes: tables, files, messages, progress."""
