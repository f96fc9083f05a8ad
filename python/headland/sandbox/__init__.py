"""The sandbox: the complete service on loopback, its faults and the truth of its fields."""

from headland.sandbox.sandbox import Request, Sandbox

__all__ = ["Request", "Sandbox"]
