"""The model floor: the robot as a tree of joints and links whose poses are traced expressions."""
