"""Score pairs of claims that are already there: no search, only another yardstick [paper F.3].

Two kinds of pairs: every argument with its nearest earlier argument, for the tail rates of a scorer, and the pairs
that people or judges have labelled. A labelled pair was the nearest under one encoder, so the others say nothing about
it in `max_prior_pairs`; here each encoder gives its cosine for it, and all instruments meet on the same pairs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from embeddings.arguments import check_fields, read_portions, texts_of
from embeddings.fields import text_key
from embeddings.pairs import MissingVectorsError
from embeddings.schemas import PAIR_SCORES, SCORERS
from embeddings.scorers import Scorer, ScorerSpec, open_scorer
from embeddings.store import KEY_TYPE, VectorStore

PAIRS_PER_CALL = 1024
# What judges and annotators read, and what the scorers score.
SCORED_FIELD = "claim"

Pair = tuple[str, str, str]
"""(extractor, argument_id, nearest_argument_id)"""


@dataclass(frozen=True)
class RescoreReport:
    """What one call of `write_pair_scores` wrote: scores by scorer, and labelled pairs without their arguments."""

    scores: Mapping[str, int]
    labelled_pairs: int
    labelled_pairs_without_arguments: int


def write_pair_scores(
    arguments_path: Path,
    pairs_dir: Path,
    labelled: pa.Table,
    scorers: Sequence[ScorerSpec],
    stores: Mapping[str, VectorStore],
    fields: Sequence[str],
    dest: Path,
    progress: Callable[[int, int], None] | None = None,
) -> RescoreReport:
    """Writes `pair_scores.parquet` and `scorers.parquet` into the directory `dest`.

    Each scorer scores the claims of every pair of `pairs_dir` (max_prior_pairs) and of every labelled pair; each
    encoder gives its cosine for the labelled pairs, in every field. A labelled pair counts in every extractor that has
    both its arguments.

    Args:
        labelled: argument_id and nearest_argument_id of the labelled pairs; repeated rows count once.
        stores: the filled store of each encoder, by the encoder's name.
        progress: called with (scores made, scores to make).

    Raises:
        EncoderUnavailable: a scorer's library or weights are missing.
        MissingVectorsError: an argument of a labelled pair has no vector.
    """
    check_fields(fields)
    texts = _texts(arguments_path, fields)
    labelled_pairs, lost = _labelled_pairs(labelled, texts)
    nearest_pairs = _nearest_pairs(pairs_dir)
    claim_pairs = sorted(labelled_pairs | nearest_pairs)
    audited = sorted(labelled_pairs)
    total = len(scorers) * len(claim_pairs) + len(stores) * len(fields) * len(audited)
    done = 0
    counts: dict[str, int] = {}
    records = []
    dest.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(dest / "pair_scores.parquet", PAIR_SCORES) as writer:

        def write(pairs: Sequence[Pair], scorer: str, field: str, scores: np.ndarray) -> None:
            nonlocal done
            writer.write_table(_table(pairs, scorer, field, scores))
            counts[scorer] = counts.get(scorer, 0) + len(pairs)
            done += len(pairs)
            if progress:
                progress(done, total)

        for spec in sorted(scorers, key=lambda spec: spec.name):
            scorer = open_scorer(spec)
            counts[spec.name] = 0
            for portion in _portions(claim_pairs):
                write(portion, spec.name, SCORED_FIELD, _scores(scorer, spec.name, portion, texts))
            records.append(_record(spec, scorer))
        for name, store in sorted(stores.items()):
            for field in fields:
                for portion in _portions(audited):
                    write(portion, name, field, _cosines(store, field, portion, texts, arguments_path))
    pq.write_table(pa.Table.from_pylist(records, schema=SCORERS), dest / "scorers.parquet")
    return RescoreReport(counts, len(labelled_pairs), lost)


def _texts(arguments_path: Path, fields: Sequence[str]) -> dict[tuple[str, str], dict[str, str]]:
    """The texts of each argument by field, by (extractor, argument_id)."""
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for table in read_portions(arguments_path):
        by_field = {field: texts_of(table, field, arguments_path) for field in {SCORED_FIELD, *fields}}
        for row, key in enumerate(zip(table["extractor"].to_pylist(), table["argument_id"].to_pylist(), strict=True)):
            texts[key] = {field: column[row] for field, column in by_field.items()}
    return texts


def _labelled_pairs(labelled: pa.Table, texts: Mapping[tuple[str, str], dict[str, str]]) -> tuple[set[Pair], int]:
    extractors = sorted({extractor for extractor, _ in texts})
    named = set(zip(labelled["argument_id"].to_pylist(), labelled["nearest_argument_id"].to_pylist(), strict=True))
    found = {
        (extractor, argument, nearest)
        for argument, nearest in named
        for extractor in extractors
        if (extractor, argument) in texts and (extractor, nearest) in texts
    }
    return found, len(named) - len({pair[1:] for pair in found})


def _nearest_pairs(pairs_dir: Path) -> set[Pair]:
    pairs: set[Pair] = set()
    for path in sorted(pairs_dir.glob("pairs-*.parquet")):
        columns = ["extractor", "argument_id", "nearest_argument_id"]
        of_claims = (pc.field("field") == SCORED_FIELD) & pc.field("nearest_argument_id").is_valid()
        table = pq.read_table(path, columns=columns, filters=of_claims)
        pairs |= set(zip(*(table[column].to_pylist() for column in columns), strict=True))
    return pairs


def _portions(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        yield pairs[start : start + PAIRS_PER_CALL]


def _scores(
    scorer: Scorer, name: str, pairs: Sequence[Pair], texts: Mapping[tuple[str, str], dict[str, str]]
) -> np.ndarray:
    later = [texts[extractor, argument][SCORED_FIELD] for extractor, argument, _ in pairs]
    earlier = [texts[extractor, nearest][SCORED_FIELD] for extractor, _, nearest in pairs]
    scores = scorer.score(later, earlier)
    if scores.shape != (len(pairs),) or not np.isfinite(scores).all():
        raise ValueError(f"scorer {name!r} gave no finite score for a pair of {pairs[0][1]} … {pairs[-1][1]}")
    return scores


def _cosines(
    store: VectorStore,
    field: str,
    pairs: Sequence[Pair],
    texts: Mapping[tuple[str, str], dict[str, str]],
    arguments_path: Path,
) -> np.ndarray:
    sides = []
    for keys in ([pair[:2] for pair in pairs], [(pair[0], pair[2]) for pair in pairs]):
        positions = store.find(np.array([text_key(texts[key][field]) for key in keys], dtype=KEY_TYPE))
        if (positions < 0).any():
            argument = keys[int(np.flatnonzero(positions < 0)[0])][1]
            raise MissingVectorsError(
                f"{arguments_path}: field {field} of argument {argument} has no vector of encoder "
                f"{store.spec.name!r} in {store.path}; materialize the vectors of this encoder"
            )
        vectors = store.vectors(positions).astype(np.float64)
        sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return np.clip(np.einsum("nd,nd->n", *sides), -1.0, 1.0)


def _table(pairs: Sequence[Pair], scorer: str, field: str, scores: np.ndarray) -> pa.Table:
    extractors, arguments, nearest = (list(column) for column in zip(*pairs, strict=True))
    return pa.table(
        {
            "argument_id": arguments,
            "nearest_argument_id": nearest,
            "extractor": extractors,
            "field": pa.repeat(field, len(pairs)),
            "scorer": pa.repeat(scorer, len(pairs)),
            "score": scores,
        },
        schema=PAIR_SCORES,
    )


def _record(spec: ScorerSpec, scorer: Scorer) -> dict:
    return {
        "scorer": spec.name,
        "backend": spec.backend,
        "model": spec.model,
        "revision": spec.revision,
        "resolved_revision": scorer.provenance.resolved_revision,
        "max_length": spec.max_length,
        "batch_size": spec.batch_size,
        "device": scorer.provenance.device,
        "library_versions": scorer.provenance.library_versions,
    }
