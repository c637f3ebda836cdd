"""The mechanics floor: kinematics, recursion, equilibrium and motion of a robot model."""
