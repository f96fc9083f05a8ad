"""The mirror: a local copy of a whole account, ready for analysis."""

from headland.mirror.mirror import Mirror
from headland.mirror.models import Calls, CallsMade, Outcome, Plan, Unavailable, Verification
from headland.mirror.publication import Publication
from headland.mirror.status import Status
from headland.mirror.summary import Stock

__all__ = [
    "Calls",
    "CallsMade",
    "Mirror",
    "Outcome",
    "Plan",
    "Publication",
    "Status",
    "Stock",
    "Unavailable",
    "Verification",
]
