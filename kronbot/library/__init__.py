"""kronbot as a library: a robot whose methods are the questions of the command line, answered as frozen results."""
