from tests.ingest.importers.imported import imported

__all__ = ["imported"]
