"""Says how every job of a project stands."""
