"""The algebra floor: Kronecker products and derivatives of matrices by vectors, on CasADi expressions."""
