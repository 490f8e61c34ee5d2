"""Cases of the field, made on real parts by scripts that share nothing with the checks."""
