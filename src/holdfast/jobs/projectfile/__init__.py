"""`holdfast.yaml`: its tree, substitutions, profiles, and the models of its parts."""
