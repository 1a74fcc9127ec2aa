import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from embeddings import backends
from embeddings.spec import EncoderSpec, Provenance

ARGUMENTS = pa.schema(
    [
        ("argument_id", pa.string()),
        ("extractor", pa.string()),
        ("session_id", pa.string()),
        ("language", pa.string()),
        ("turn_index", pa.int32()),
        ("argument_index", pa.int32()),
        ("claim", pa.string()),
        ("warrant", pa.string()),
        ("evidence_or_example", pa.string()),
        ("argument_type_raw", pa.string()),
        ("extra", pa.string()),
    ]
)


@pytest.fixture
def argument() -> Callable[..., dict]:
    """Makes one row of arguments.parquet."""

    def row(
        session_id: str,
        turn_index: int,
        argument_index: int,
        claim: str,
        warrant: str | None = "",
        extractor: str = "x",
    ) -> dict:
        return {
            "argument_id": f"{session_id}/{turn_index}/{argument_index}",
            "extractor": extractor,
            "session_id": session_id,
            "language": "en",
            "turn_index": turn_index,
            "argument_index": argument_index,
            "claim": claim,
            "warrant": warrant,
            "evidence_or_example": None,
        }

    return row


@pytest.fixture
def write_arguments(tmp_path: Path) -> Callable[[Sequence[dict]], Path]:
    def write(rows: Sequence[dict], name: str = "arguments.parquet") -> Path:
        path = tmp_path / name
        pq.write_table(pa.Table.from_pylist(list(rows), schema=ARGUMENTS), path)
        return path

    return write


def text_vector(text: str, dimension: int = 16) -> np.ndarray:
    """A random direction that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


class FakeEncoder:
    """Remembers what it was asked to encode; texts in `zero` get no direction."""

    dimension = 16
    resolved_revision = "commit-1"
    zero: tuple[str, ...] = ()
    seen: list[str] = []  # noqa: RUF012

    def __init__(self, spec: EncoderSpec) -> None:
        self.spec = spec
        self.provenance = Provenance("cpu", self.resolved_revision, {"fake": "1"})

    def token_count(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([len(text.split()) for text in texts], dtype=np.int32)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.seen.extend(texts)
        return np.stack([text_vector(self.spec.prefix + text) * (text not in self.zero) for text in texts])


@pytest.fixture
def fake_encoder(monkeypatch: pytest.MonkeyPatch) -> type[FakeEncoder]:
    encoder = type("FakeEncoderOfTest", (FakeEncoder,), {"seen": []})
    monkeypatch.setitem(backends.BACKENDS, "fake", encoder)
    return encoder


@pytest.fixture
def spec() -> EncoderSpec:
    return EncoderSpec(
        name="fake",
        backend="fake",
        model="m",
        revision="main",
        prefix="",
        dtype="float32",
        batch_size=4,
        max_length=8,
        normalize=True,
    )
