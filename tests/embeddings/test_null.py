from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings import null as module
from embeddings.encode import encode_arguments
from embeddings.null import null_maxima, write_null_maxima
from embeddings.store import VectorStore

BACKENDS = ["numpy", "torch"]


def brute_force(vectors, session, turn_index, compared) -> dict[tuple[int, int, int], list[float]]:
    """The maxima behind each (session, other, turn), one cosine at a time."""
    unit = [vector / np.linalg.norm(vector) for vector in vectors.astype(np.float64)]
    maxima: dict[tuple[int, int, int], list[float]] = {}
    for i in range(len(unit)):
        for other in range(len(compared)):
            pool = [
                float(unit[i] @ unit[j])
                for j in range(len(unit))
                if session[j] == other and turn_index[j] < turn_index[i]
            ]
            if pool and compared[session[i], other]:
                maxima.setdefault((session[i], other, turn_index[i]), []).append(max(pool))
    return maxima


@st.composite
def cells(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sessions of unequal length, with missing turns and some motions in common; some have no argument at all."""
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    turns = [sorted(draw(st.lists(st.integers(1, 8), min_size=size, max_size=size))) for size in sizes]
    motion = np.array(draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes))))
    vector = st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any)
    vectors = draw(st.lists(vector, min_size=sum(sizes), max_size=sum(sizes)))
    session = np.repeat(np.arange(len(sizes)), sizes)
    return (
        np.array(vectors, dtype=np.float32),
        session,
        np.concatenate(turns).astype(np.int64),
        motion[:, None] != motion,
    )


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=100, deadline=None)
@given(cell=cells(), block_bytes=st.sampled_from([1, 1000, 1 << 20]))
def test_it_equals_a_loop_over_every_pair(backend, cell, block_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", block_bytes)
        result = null_maxima(*cell, backend=backend)
    expected = brute_force(*cell)
    keys = list(zip(result.session.tolist(), result.other.tolist(), result.turn_index.tolist(), strict=True))
    assert len(keys) == len(set(keys))
    assert set(keys) == set(expected)
    for key, n, mean, squared in zip(keys, result.n_draws, result.mean, result.sum_squared_deviations, strict=True):
        assert n == len(expected[key])
        assert mean == pytest.approx(np.mean(expected[key]), abs=1e-12)
        assert squared == pytest.approx(np.var(expected[key]) * n, abs=1e-12)


def test_a_session_is_compared_with_a_hundred_other_motions_at_most():
    motions = [f"m{number:03}" for number in range(150)]
    compared = module._compared(motions, "en", seed=1)
    np.testing.assert_array_equal(compared.sum(axis=1), 100)
    assert not compared.diagonal().any()
    assert (compared != module._compared(motions, "en", seed=2)).any()
    assert (compared != module._compared(motions, "zh", seed=1)).any()
    np.testing.assert_array_equal(compared, module._compared(motions, "en", seed=1))


def test_of_few_motions_every_other_one_is_used():
    compared = module._compared(["a", "a", "b", "c"], "en", seed=1)
    np.testing.assert_array_equal(compared, [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])


@pytest.fixture
def sessions(tmp_path: Path):
    def write(rows: list[tuple[str, str, str, str, int | None]]) -> Path:
        names = ["session_id", "motion_id", "language", "condition", "repeat"]
        path = tmp_path / "sessions.parquet"
        pq.write_table(pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows]), path)
        return path

    return write


def test_only_debates_of_one_language_condition_and_repeat_are_compared(
    argument, write_arguments, fake_encoder, spec, sessions, tmp_path
):
    listed = [
        ("a", "m1", "en", "baseline", 1),
        ("b", "m2", "en", "baseline", None),
        ("c", "m2", "zh", "baseline", 1),
        ("d", "m2", "en", "diversity", 1),
        ("e", "m3", "en", "baseline", 2),
        ("f", "m1", "en", "baseline", 1),
    ]
    path = write_arguments(
        [argument(row[0], turn, 1, f"claim {row[0]} {turn}") for row in listed for turn in (1, 2, 3)]
    )
    store = VectorStore(tmp_path / "vectors", spec)
    encode_arguments(path, spec, ["claim"], store)
    report = write_null_maxima(path, sessions(listed), {store.spec.name: store}, ["claim"], 42, tmp_path)
    rows = pq.read_table(tmp_path / f"null-{store.spec.name}.parquet").to_pylist()
    pairs = {(row["session_id"], row["other_session_id"]) for row in rows}
    assert pairs == {("a", "b"), ("f", "b"), ("b", "a"), ("b", "f")}
    assert {row["turn_index"] for row in rows} == {2, 3}
    assert report.rows == {store.spec.name: 8}
    assert report.draws == {store.spec.name: 8}
    assert report.sessions_without_another_motion == 3
