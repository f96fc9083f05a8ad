"""Layers: their columns, rows and frames, and the readers that make them from archives."""
