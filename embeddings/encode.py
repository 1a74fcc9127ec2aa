"""Encode the texts of argument units, each distinct text once."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.arguments import check_fields, read_portions, texts_of
from embeddings.encoders import open_encoder
from embeddings.fields import text_key
from embeddings.spec import EncoderSpec, EncodingError, Provenance
from embeddings.store import KEY_TYPE, VectorStore

# A part of the store is written after this many texts or seconds, whichever comes first: what a killed process loses.
TEXTS_PER_PART = 512
SECONDS_PER_PART = 20.0


@dataclass(frozen=True)
class EncodeReport:
    """What one call of `encode_arguments` found and did. Texts are distinct."""

    encoder: str
    encoder_key: str
    texts: int
    reused: int
    encoded: int
    over_max_length: int
    with_nul_replaced: int
    seconds: float
    provenances: tuple[Provenance, ...]


def encode_arguments(
    arguments_path: Path,
    spec: EncoderSpec,
    fields: Sequence[str],
    store: VectorStore,
    progress: Callable[[int, int], None] | None = None,
) -> EncodeReport:
    """Puts a vector of every text of these fields into the store.

    The encoder is opened only when a text has no vector yet. A NUL character, which ends a text for libraries written
    in C, is replaced by U+FFFD for every encoder, and such texts are counted.

    Args:
        arguments_path: `arguments.parquet` of the argument units.
        progress: called with (texts encoded, texts to encode).

    Raises:
        ArgumentsError: the file is not what its contract says.
        EncoderUnavailable, EncoderSettingsError: see `encoders.open_encoder`.
        EncodingError: the encoder returned a vector that is no direction.
        StoreError: the store holds vectors of other weights.
    """
    check_fields(fields)
    if store.spec != spec:
        raise ValueError(f"the store at {store.path} belongs to other settings than encoder {spec.name!r}")
    started = time.monotonic()

    texts, with_nul = _distinct(arguments_path, fields)
    to_encode = int((store.find(texts) < 0).sum())
    if to_encode:
        _encode_missing(arguments_path, spec, fields, store, to_encode, progress)

    positions = store.find(texts)
    return EncodeReport(
        encoder=spec.name,
        encoder_key=spec.key,
        texts=len(texts),
        reused=len(texts) - to_encode,
        encoded=to_encode,
        over_max_length=int(store.over_max_length(positions).sum()),
        with_nul_replaced=with_nul,
        seconds=time.monotonic() - started,
        provenances=tuple(store.provenances(positions)),
    )


def _keyed_texts(arguments_path: Path, fields: Sequence[str]) -> Iterator[dict[bytes, str]]:
    """The texts of one portion of the file at a time, each once, by key."""
    for portion in read_portions(arguments_path):
        yield {text_key(text): text for field in fields for text in texts_of(portion, field, arguments_path)}


def _distinct(arguments_path: Path, fields: Sequence[str]) -> tuple[np.ndarray, int]:
    """Keys of the distinct texts, sorted, and how many of these texts hold a NUL character."""
    keys = np.empty(0, dtype=KEY_TYPE)
    with_nul: set[bytes] = set()
    for texts in _keyed_texts(arguments_path, fields):
        keys = np.union1d(keys, np.array(list(texts), dtype=KEY_TYPE))
        with_nul.update(key for key, text in texts.items() if "\0" in text)
    return keys, len(with_nul)


def _encode_missing(
    arguments_path: Path,
    spec: EncoderSpec,
    fields: Sequence[str],
    store: VectorStore,
    to_encode: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    encoder = open_encoder(spec)
    store.require_revision(encoder.provenance.resolved_revision)
    done = 0

    def encode_window(window: dict[bytes, str]) -> None:
        nonlocal done
        keys = list(window)
        texts = [text.replace("\0", "\ufffd") for text in window.values()]
        n_tokens = encoder.token_count(texts)
        # Texts of like length in one batch need little padding.
        order = np.argsort(n_tokens, kind="stable")
        flushed, vectors, last_flush = 0, [], time.monotonic()
        for start in range(0, len(order), spec.batch_size):
            batch = order[start : start + spec.batch_size]
            vectors.append(_checked(encoder.encode([texts[i] for i in batch]), [texts[i] for i in batch], spec))
            end = start + len(batch)
            if end == len(order) or time.monotonic() - last_flush > SECONDS_PER_PART:
                ready = order[flushed:end]
                over = n_tokens[ready] > spec.max_length if spec.max_length else np.zeros(len(ready), dtype=np.bool_)
                store.append([keys[i] for i in ready], np.vstack(vectors), n_tokens[ready], over, encoder.provenance)
                flushed, vectors, last_flush = end, [], time.monotonic()
            done += len(batch)
            if progress:
                progress(done, to_encode)

    window: dict[bytes, str] = {}
    for texts in _keyed_texts(arguments_path, fields):
        missing = store.find(np.array(list(texts), dtype=KEY_TYPE)) < 0
        # A text that waited in the window and was written within this portion is no longer missing.
        written: set[bytes] = set()
        for (key, text), absent in zip(texts.items(), missing, strict=True):
            if absent and key not in written:
                window[key] = text
            if len(window) == TEXTS_PER_PART:
                encode_window(window)
                written |= window.keys()
                window = {}
    if window:
        encode_window(window)


def _checked(vectors: np.ndarray, texts: Sequence[str], spec: EncoderSpec) -> np.ndarray:
    squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    useless = np.flatnonzero(~(np.isfinite(squared) & (squared > 0)))
    if useless.size:
        text = texts[useless[0]]
        raise EncodingError(
            f"encoder {spec.name!r} returned a vector that is zero or not finite for {useless.size} of {len(texts)} "
            f"texts, first the one with SHA-256 {text_key(text).hex()}: {text[:80]!r}"
        )
    return vectors
