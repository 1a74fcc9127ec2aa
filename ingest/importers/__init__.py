"""Other people's transcripts into the archive format, by a mapping that says where everything is found."""

from ingest.importers.findings import UNREADABLE
from ingest.importers.importing import ImportReport, Preview, import_debates, preview_debates
from ingest.importers.mapping import Mapping, MappingError, load_mapping, ready_mappings

__all__ = [
    "UNREADABLE",
    "ImportReport",
    "Mapping",
    "MappingError",
    "Preview",
    "import_debates",
    "load_mapping",
    "preview_debates",
    "ready_mappings",
]
