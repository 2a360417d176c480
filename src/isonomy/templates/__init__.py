"""Documents in the form that a law or a practice asks for, filled from counts of people."""

from isonomy.templates.base import TEMPLATES, Document, Field, Section, Table, Template
from isonomy.templates.eu_ai_act import fill_eu_ai_act
from isonomy.templates.four_fifths import fill_four_fifths
from isonomy.templates.lending import fill_lending
from isonomy.templates.ll144 import fill_ll144

__all__ = [
    "Document",
    "Field",
    "Section",
    "TEMPLATES",
    "Table",
    "Template",
    "fill_eu_ai_act",
    "fill_four_fifths",
    "fill_lending",
    "fill_ll144",
]
