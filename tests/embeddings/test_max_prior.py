from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings import max_prior as module
from embeddings.fixed_pool import POOL_SIZES
from embeddings.max_prior import MaxPrior, max_prior

BACKENDS = ["numpy", "torch"]


def brute_force(vectors: np.ndarray, session: np.ndarray, turn: np.ndarray) -> MaxPrior:
    """One pair at a time, ties to the first row. Whole-number vectors are compared exactly, as fractions."""
    n = len(vectors)
    exact = np.array_equal(vectors, np.round(vectors))
    similarity, nearest, pool_size = np.full(n, np.nan), np.full(n, -1), np.zeros(n, dtype=int)
    fixed_pool = np.full((n, len(POOL_SIZES)), np.nan)
    for i in range(n):
        best, cosines = None, []
        for j in range(n):
            if session[j] != session[i] or turn[j] >= turn[i]:
                continue
            pool_size[i] += 1
            a, b = (vectors[k].astype(np.float64) for k in (i, j))
            cosines.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
            if exact:
                dot = int(vectors[i] @ vectors[j])
                rank = Fraction(dot * abs(dot), int(vectors[j] @ vectors[j]))
            else:
                rank = vectors[i].astype(np.float64) @ vectors[j].astype(np.float64) / np.linalg.norm(vectors[j])
            if best is None or rank > best:
                best, nearest[i] = rank, j
        if best is not None:
            a, b = (vectors[k].astype(np.float64) for k in (i, nearest[i]))
            similarity[i] = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        for number, k in enumerate(POOL_SIZES):
            if len(cosines) >= k:
                size = len(cosines)
                ranked = enumerate(sorted(cosines, reverse=True)[: size - k + 1], start=1)
                fixed_pool[i, number] = sum(comb(size - r, k - 1) / comb(size, k) * cosine for r, cosine in ranked)
    return MaxPrior(similarity, nearest, pool_size, fixed_pool)


def assert_same(result: MaxPrior, expected: MaxPrior, tolerance: float = 1e-12) -> None:
    np.testing.assert_array_equal(result.nearest, expected.nearest)
    np.testing.assert_array_equal(result.pool_size, expected.pool_size)
    np.testing.assert_allclose(result.similarity, expected.similarity, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.fixed_pool, expected.fixed_pool, rtol=0, atol=tolerance)


@st.composite
def archives(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sessions of unequal length with missing turns and short whole-number vectors, which tie all the time."""
    sizes = draw(st.lists(st.integers(1, 14), min_size=1, max_size=6))
    turns = [sorted(draw(st.lists(st.integers(1, 8), min_size=size, max_size=size))) for size in sizes]
    rows = sum(sizes)
    vector = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)
    vectors = draw(st.lists(vector, min_size=rows, max_size=rows))
    return np.array(vectors, dtype=np.float32), np.repeat(np.arange(len(sizes)), sizes), np.concatenate(turns)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=150, deadline=None)
@given(archive=archives())
def test_it_equals_exact_brute_force_on_archives_full_of_ties(backend, archive):
    assert_same(max_prior(*archive, backend=backend), brute_force(*archive))


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_equals_brute_force_on_real_valued_vectors(backend):
    rng = np.random.default_rng(1)
    sizes = [1, 31, 7, 40, 2]
    vectors = rng.standard_normal((sum(sizes), 48)).astype(np.float32)
    session = np.repeat(["c", "a", "e", "b", "d"], sizes)
    turn = np.concatenate([np.sort(rng.integers(1, 9, size)) for size in sizes])
    assert_same(max_prior(vectors, session, turn, backend=backend), brute_force(vectors, session, turn))


@pytest.mark.parametrize("backend", BACKENDS)
def test_identical_texts_tie_exactly_and_the_earliest_wins(backend):
    # 1,024 numbers per vector and odd pool sizes make BLAS round equal columns differently; 25 copies of one prior
    # argument leave argmax 25 chances to name a later one.
    rng = np.random.default_rng(2)
    for _ in range(20):
        base = rng.standard_normal(1024).astype(np.float32)
        others = rng.standard_normal((6, 1024)).astype(np.float32)
        query = base + 0.1 * rng.standard_normal(1024).astype(np.float32)
        vectors = np.vstack([others, np.tile(base, (25, 1)), query])
        turn = np.array([1] * 6 + [2] * 25 + [3])
        result = max_prior(vectors, np.zeros(32), turn, backend=backend)
        assert result.nearest[-1] == 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_turns_other_arguments_are_never_in_the_pool(backend):
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    result = max_prior(vectors, np.zeros(3), np.array([1, 2, 2]), backend=backend)
    assert result.nearest.tolist() == [-1, 0, 0]
    assert result.pool_size.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(result.similarity, [np.nan, 0.0, 0.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_forty_arguments_in_one_turn_all_look_back_to_the_turns_before(backend):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((45, 32)).astype(np.float32)
    turn = np.array([1, 1, 1] + [2] * 40 + [3, 3])
    result = max_prior(vectors, np.zeros(45), turn, backend=backend)
    assert result.pool_size.tolist() == [0] * 3 + [3] * 40 + [43] * 2
    assert_same(result, brute_force(vectors, np.zeros(45), turn))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_session_without_turn_1_starts_its_pool_at_its_first_turn(backend):
    vectors = np.eye(3, dtype=np.float32)
    result = max_prior(vectors, np.zeros(3), np.array([2, 5, 8]), backend=backend)
    assert result.pool_size.tolist() == [0, 1, 2]
    assert result.nearest.tolist() == [-1, 0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_single_argument_has_no_similarity(backend):
    result = max_prior(np.ones((1, 4), dtype=np.float32), np.array(["s"]), np.array([1]), backend=backend)
    assert np.isnan(result.similarity).all() and result.nearest.tolist() == [-1] and result.pool_size.tolist() == [0]


def test_no_arguments_give_empty_arrays_of_the_promised_types():
    result = max_prior(np.empty((0, 4), dtype=np.float32), np.empty(0), np.empty(0, dtype=int))
    assert (result.similarity.dtype, result.nearest.dtype, result.pool_size.dtype) == (np.float64, np.int64, np.int32)
    assert len(result.similarity) == len(result.nearest) == len(result.pool_size) == 0


def test_numpy_and_torch_give_the_same_rows_and_similarities():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 40, 200)
    vectors = rng.standard_normal((sizes.sum(), 96)).astype(np.float32)
    vectors[rng.integers(0, len(vectors), 900)] = vectors[:900]
    session = np.repeat(np.arange(200), sizes)
    turn = np.concatenate([np.sort(rng.integers(1, 9, size)) for size in sizes])
    assert_same(max_prior(vectors, session, turn, "torch"), max_prior(vectors, session, turn, "numpy"))


def test_the_length_of_the_vectors_and_the_size_of_the_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((300, 16)).astype(np.float32)
    session = np.repeat(np.arange(30), 10)
    turn = np.tile([1, 1, 2, 3, 3, 3, 5, 6, 8, 8], 30)
    whole = max_prior(vectors, session, turn, "numpy")
    monkeypatch.setitem(module.BLOCK_BYTES, "numpy", 1)
    scaled = vectors * rng.uniform(0.1, 10, (300, 1)).astype(np.float32)
    assert_same(max_prior(scaled, session, turn, "numpy"), whole, tolerance=1e-6)


def test_what_a_session_gets_does_not_depend_on_the_other_sessions_to_the_last_bit():
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 40, 60)
    vectors = rng.standard_normal((sizes.sum(), 384)).astype(np.float32)
    session = np.repeat(np.arange(60), sizes)
    turn = np.concatenate([np.sort(rng.integers(1, 9, size)) for size in sizes])
    together = max_prior(vectors, session, turn, "numpy").similarity
    alone = [
        max_prior(vectors[own], session[own], turn[own], "numpy").similarity
        for own in session == np.arange(60)[:, None]
    ]
    np.testing.assert_array_equal(together, np.concatenate(alone))


def test_similarity_never_exceeds_one():
    rng = np.random.default_rng(6)
    vectors = np.repeat(rng.standard_normal((500, 64)).astype(np.float32), 2, axis=0)
    result = max_prior(vectors, np.repeat(np.arange(500), 2), np.tile([1, 2], 500), "numpy")
    assert np.nanmax(result.similarity) <= 1.0
    assert np.nanmin(result.similarity) >= 1.0 - 1e-15


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_vector_without_a_direction_is_an_error_that_names_its_row(backend, bad):
    vectors = np.ones((6, 3), dtype=np.float32)
    vectors[4] = bad
    with pytest.raises(ValueError, match="row 4"):
        max_prior(vectors, np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 3, 1, 2, 3]), backend)


def test_rows_out_of_order_are_refused():
    vectors = np.ones((3, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="sorted by turn_index"):
        max_prior(vectors, np.zeros(3), np.array([1, 3, 2]))
    with pytest.raises(ValueError, match="lie together"):
        max_prior(vectors, np.array([0, 1, 0]), np.array([1, 1, 2]))
