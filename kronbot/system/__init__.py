"""What the operating system is asked for: files, signals, processes, owners."""
