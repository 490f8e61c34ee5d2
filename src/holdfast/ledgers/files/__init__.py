"""The manifests of a file sink: committing, publishing, replacing, taking back."""
