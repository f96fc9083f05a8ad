"""Clients of the service: their settings, calls, lists, conversions and deliveries."""
