"""Agronomy: canonical columns, cleaned jobs, maps and means of fields, prescriptions and rates."""
