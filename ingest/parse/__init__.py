"""An extractor's answer into argument units, or a failure with its reason."""

from ingest.parse.extractor_answer import Failed, Parsed, Unit, parse_answer
from ingest.parse.units import ParseReport, parse_extractions

__all__ = ["Failed", "ParseReport", "Parsed", "Unit", "parse_answer", "parse_extractions"]
