"""URDF files: how they are read, and the robot file that says the same."""
