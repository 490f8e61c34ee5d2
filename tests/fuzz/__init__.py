"""Derives damaged checkpoints from real ones and judges what Holdfast says of them."""
