"""The terminal's face: no rule lives here."""
