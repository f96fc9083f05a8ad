"""Reports: a page for each field and an index, which need neither a network nor scripts."""

from .draw_maps import draw_field
from .field_cards import field_card
from .html_pages import INDEX, Field, check_page, number_jobs, write_index, write_page
from .measured_totals import Amount
from .report_job import Job, add_layer

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
