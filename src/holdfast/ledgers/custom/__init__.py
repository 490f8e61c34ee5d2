"""The ledger of a function of the user's."""
