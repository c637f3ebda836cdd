"""Trees of rigid and flexible links: kinematics, inertia, recursions."""
