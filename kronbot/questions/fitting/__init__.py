"""What ``fit`` compares measurements with: answers at every row, and their exact derivatives by parameters."""
