"""What the Python functions of a query are: their code, and everything that it reaches."""
