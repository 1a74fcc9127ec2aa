"""Pair scorers: how close two claims are by another yardstick than the encoders' cosine.

A scorer is no encoder: it reads both texts at once. Each is imported only when it is opened.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol

import numpy as np

from embeddings.backends import missing_weights, resolve_revision
from embeddings.spec import INSTALL_ENCODERS, EncoderUnavailable, Provenance


@dataclass(frozen=True)
class ScorerSpec:
    """A declared scorer. `model` and `revision` name its weights, or the package and the signature of a formula."""

    name: str
    backend: str
    model: str
    revision: str
    max_length: int | None = None
    batch_size: int | None = None


class Scorer(Protocol):
    """An opened scorer."""

    provenance: Provenance

    def score(self, texts: Sequence[str], earlier_texts: Sequence[str]) -> np.ndarray:
        """One score a pair, higher is closer: float64 (n,)."""
        ...


class ChrfScorer:
    """chrF, the F-score of shared character n-grams up to six, 0 to 1; it needs no model and no tokenizer.

    Recall weighs twice as much as precision, so the later claim is the hypothesis and the earlier one the reference.
    White space counts for nothing, which makes scripts with and without spaces alike.
    """

    def __init__(self, spec: ScorerSpec) -> None:
        library = importlib.import_module("sacrebleu.metrics")
        self._chrf = library.CHRF(char_order=6, word_order=0, beta=2, whitespace=False)
        self.provenance = Provenance("cpu", spec.revision, {"sacrebleu": version("sacrebleu")})

    def score(self, texts: Sequence[str], earlier_texts: Sequence[str]) -> np.ndarray:
        scores = [
            self._chrf.sentence_score(text, [earlier]).score / 100
            for text, earlier in zip(texts, earlier_texts, strict=True)
        ]
        return np.array(scores, dtype=np.float64)


class CrossEncoderScorer:
    """A cross-encoder of sentence-transformers, on CUDA when there is one.

    The score is the model's logit for (later claim, earlier claim). A sigmoid would leave the order as it is and round
    the highest scores to ties.
    """

    def __init__(self, spec: ScorerSpec) -> None:
        try:
            torch = importlib.import_module("torch")
            library = importlib.import_module("sentence_transformers")
        except ImportError as error:
            raise EncoderUnavailable(
                f"scorer {spec.name!r} needs the Python package {error.name}, which cannot be imported: "
                f"run {INSTALL_ENCODERS}"
            ) from error
        cuda = torch.cuda.is_available()
        revision, commit = resolve_revision(spec)
        try:
            self._model = library.CrossEncoder(
                spec.model,
                revision=revision,
                device="cuda" if cuda else "cpu",
                max_length=spec.max_length,
                num_labels=1,
                activation_fn=torch.nn.Identity(),
                model_kwargs={"dtype": torch.float32},
            )
        except OSError as error:
            raise missing_weights(spec) from error
        self._batch_size = spec.batch_size
        self.provenance = Provenance(
            device=f"cuda: {torch.cuda.get_device_name()}" if cuda else "cpu",
            resolved_revision=commit,
            library_versions={
                name: version(name) for name in ("sentence-transformers", "torch", "transformers", "tokenizers")
            },
        )

    def score(self, texts: Sequence[str], earlier_texts: Sequence[str]) -> np.ndarray:
        pairs = list(zip(texts, earlier_texts, strict=True))
        scores = self._model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float64).reshape(len(pairs))


BACKENDS: dict[str, type[Scorer]] = {"chrf": ChrfScorer, "cross_encoder": CrossEncoderScorer}

SCORERS: dict[str, ScorerSpec] = {
    spec.name: spec
    for spec in (
        ScorerSpec("chrf", "chrf", model="chrF", revision="nc:6|nw:0|beta:2|space:no"),
        ScorerSpec(
            "bge-reranker-v2-m3",
            "cross_encoder",
            model="BAAI/bge-reranker-v2-m3",
            revision="main",
            max_length=512,
            batch_size=64,
        ),
    )
}
"""Every scorer that a study can pick. A new one is a new entry."""


def open_scorer(spec: ScorerSpec) -> Scorer:
    """Load a scorer, which may take minutes and a download. Raises EncoderUnavailable with the command to run."""
    return BACKENDS[spec.backend](spec)
