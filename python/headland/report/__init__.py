"""Reports: a page for each field and an index, which need neither a network nor scripts."""

from .card import field_card
from .draw import draw_field
from .job import Job, add_layer
from .measure import Amount
from .page import INDEX, Field, check_page, number_jobs, write_index, write_page

__all__ = [
    "INDEX",
    "Amount",
    "Field",
    "Job",
    "add_layer",
    "check_page",
    "draw_field",
    "field_card",
    "number_jobs",
    "write_index",
    "write_page",
]
