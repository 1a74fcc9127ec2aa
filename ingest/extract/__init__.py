"""From speeches to extractors' raw answers: by a model through the caller, by vLLM offline, or by sentence."""

from ingest.extract.answers import ExtractionReport, extract
from ingest.extract.prompt import ExtractionPrompt, extraction_request, load_extraction_prompt
from ingest.extract.sentences import SENTENCES, extract_sentences, split_sentences
from ingest.extract.speeches import Speech, read_speeches

__all__ = [
    "SENTENCES",
    "ExtractionPrompt",
    "ExtractionReport",
    "Speech",
    "extract",
    "extract_sentences",
    "extraction_request",
    "load_extraction_prompt",
    "read_speeches",
    "split_sentences",
]
