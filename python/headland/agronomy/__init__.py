"""Agronomy: canonical columns, layers of many jobs, cleaned jobs, maps and means of fields, prescriptions and rates."""
