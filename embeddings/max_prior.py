"""The nearest earlier argument of every argument: prior-argument similarity r(a)."""

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from embeddings.fixed_pool import POOL_SIZES, expectation_weights

# Cosines closer than this are a tie. Float64 rounding of a dot product of thousands of terms stays below it, whatever
# the order of summation, and vectors kept in float32 cannot tell such cosines apart.
TIE = 1e-12

# Vectors of one block: small enough for a CPU's cache, large enough to keep a GPU busy.
BLOCK_BYTES = {"numpy": 2 << 20, "torch": 128 << 20}


@dataclass(frozen=True)
class MaxPrior:
    """One entry per argument, in the order given.

    similarity: cosine to the nearest earlier argument, NaN when the prior pool is empty; float64 (n,).
    nearest: row of that argument, -1 when the prior pool is empty; int64 (n,).
    pool_size: arguments of strictly earlier turns of the session; int32 (n,).
    fixed_pool: expected largest cosine over all K-subsets of the prior pool, one column per K of `POOL_SIZES`, NaN when
        the pool is smaller than K; float64 (n, len(POOL_SIZES)).
    """

    similarity: np.ndarray
    nearest: np.ndarray
    pool_size: np.ndarray
    fixed_pool: np.ndarray


def max_prior(
    vectors: np.ndarray,
    session: np.ndarray,
    turn_index: np.ndarray,
    backend: Literal["auto", "numpy", "torch"] = "auto",
) -> MaxPrior:
    """Largest cosine between each argument and the arguments of strictly earlier turns of its session.

    Ties go to the earliest row, so to the smallest turn_index, then argument_index. NumPy and torch give the same rows
    and the same similarities to 1e-12.

    Args:
        vectors: float (n, d), of any length but zero.
        session: (n,), one value per prior pool: where extractors differ, the pair of session and extractor.
        turn_index: int (n,). Rows are sorted by session, turn_index, argument_index; turns may be missing.
        backend: "auto" is torch where there is a CUDA device, else NumPy.

    Raises:
        ValueError: lengths differ, rows are not sorted so, or a vector is zero or not finite.

    Source: section 3.3 of the paper on prior-argument similarity.
    """
    n = len(vectors)
    if vectors.ndim != 2 or len(session) != n or len(turn_index) != n:
        raise ValueError(f"vectors {vectors.shape}, session {session.shape} and turn_index {turn_index.shape} disagree")
    similarity, nearest = np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    fixed_pool = np.full((n, len(POOL_SIZES)), np.nan)
    if n == 0:
        return MaxPrior(similarity, nearest, np.empty(0, dtype=np.int32), fixed_pool)

    first_row, length = _session_bounds(session, turn_index)
    pool_size = _pool_sizes(session, turn_index, first_row, length)

    xp, device = array_library(backend)
    weights = np.stack([expectation_weights(int(length.max()), k) for k in POOL_SIZES], axis=-1)

    def score(rows: np.ndarray) -> None:
        pool = pool_size[rows]
        best, column, expected, usable = _nearest_in_pool(xp, vectors[rows].astype(np.float64), pool, weights, device)
        if not usable.all():
            raise ValueError(f"the vector of row {rows[~usable][0]} is zero or not finite")
        scored = pool > 0
        similarity[rows[scored]] = np.clip(best[scored], -1.0, 1.0)
        nearest[rows[scored]] = (rows[:, :1] + column)[scored]
        for number, k in enumerate(POOL_SIZES):
            large = pool >= k
            fixed_pool[rows[large], number] = np.clip(expected[large, number], -1.0, 1.0)

    blocks = _blocks(first_row, length, BLOCK_BYTES["numpy" if xp is np else "torch"] // (8 * vectors.shape[1]))
    if xp is np:
        # One thread a block: BLAS would share out each small product, and wait longer than it computes.
        with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as executor:
            list(executor.map(score, blocks))
    else:
        for block in blocks:
            score(block)
    return MaxPrior(similarity, nearest, pool_size, fixed_pool)


def _session_bounds(session: np.ndarray, turn_index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row and number of rows of each session."""
    changes = session[1:] != session[:-1]
    first_row = np.concatenate([[0], np.flatnonzero(changes) + 1])
    if len(np.unique(session[first_row])) != len(first_row):
        raise ValueError("the rows of a session must lie together")
    if np.any((np.diff(turn_index) < 0) & ~changes):
        raise ValueError("the rows of a session must be sorted by turn_index")
    return first_row, np.diff(np.append(first_row, len(session)))


def _pool_sizes(session: np.ndarray, turn_index: np.ndarray, first_row: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Rows of the session before the first row of each row's turn. The pool is these rows: they lead the session."""
    new_turn = np.append(True, (session[1:] != session[:-1]) | (turn_index[1:] != turn_index[:-1]))
    first_of_turn = np.maximum.accumulate(np.where(new_turn, np.arange(len(session)), 0))
    return (first_of_turn - np.repeat(first_row, length)).astype(np.int32)


def _blocks(first_row: np.ndarray, length: np.ndarray, block_rows: int) -> list[np.ndarray]:
    """Rows of each block (sessions, length), at most `block_rows` of them, or one session.

    The sessions of a block have one length: nothing is padded, and what a session gets does not depend on the others.
    """
    blocks = []
    for size in np.unique(length):
        rows = first_row[length == size, None] + np.arange(size)
        sessions = max(1, block_rows // int(size))
        blocks += [rows[start : start + sessions] for start in range(0, len(rows), sessions)]
    return blocks


def array_library(backend: str) -> tuple[ModuleType, str]:
    """NumPy or torch for a backend's name, and the device: "auto" is torch where there is a CUDA device, else NumPy."""
    if backend == "numpy":
        return np, "cpu"
    if backend not in ("auto", "torch"):
        raise ValueError(f"backend is auto, numpy or torch, not {backend!r}")
    # Importing torch takes seconds, and without the driver there is no device to find.
    if backend == "auto" and not _has_cuda_driver():
        return np, "cpu"
    try:
        import torch
    except ImportError:
        if backend == "torch":
            raise
        return np, "cpu"
    if torch.cuda.is_available():
        return torch, "cuda"
    return (torch, "cpu") if backend == "torch" else (np, "cpu")


def _has_cuda_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def _nearest_in_pool(
    xp: Any, x: np.ndarray, pool: np.ndarray, weights: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For sessions x (s, l, d), whose rows have the first `pool` (s, l) rows of the session as their prior pool.

    The largest cosine to the pool and the first column that reaches it, each (s, l); the pool's sorted cosines weighted
    by `weights` (pool size, rank, k), (s, l, k); and whether the row's vector can be used, (s, l).
    """
    columns = np.arange(x.shape[1])
    weights = weights[: x.shape[1], : x.shape[1]]
    if xp is not np:
        x, pool, columns, weights = (xp.from_numpy(array).to(device) for array in (x, pool, columns, weights))
    cosine = x @ xp.swapaxes(x, 1, 2)
    norm = xp.sqrt(xp.einsum("sii->si", cosine))
    usable = xp.isfinite(norm) & (norm > 0)
    norm = xp.where(usable, norm, 1.0)
    cosine = cosine / norm[:, :, None] / norm[:, None, :]
    in_pool = columns < pool[:, :, None]
    cosine = xp.where(in_pool, cosine, -xp.inf)
    best = xp.amax(cosine, -1)
    # The first column within the tie, not argmax: torch promises no order, and BLAS may round equal columns apart.
    column = xp.amin(xp.where(cosine >= best[:, :, None] - TIE, columns, len(columns)), -1)
    # Sorted downwards, what is outside the pool comes last, where a pool of this size has weights of zero.
    ranked = np.sort(cosine, -1)[..., ::-1] if xp is np else xp.sort(cosine, -1, descending=True).values
    ranked = xp.where(in_pool, ranked, 0.0)
    expected = xp.einsum("sln,slnk->slk", ranked, weights[pool])
    if xp is np:
        return best, column, expected, usable
    return tuple(array.cpu().numpy() for array in (best, column, expected, usable))
