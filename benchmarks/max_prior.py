"""Times the search for the nearest earlier argument against two usual ways and against the machine's own limits.

    .venv/bin/pip install -c requirements.lock -e '.[encoders]'
    python benchmarks/max_prior.py

Prints a Markdown table; every figure comes from the same run, so the ratios hold where the seconds do not.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import sentence_transformers
import torch
from sentence_transformers import util

from embeddings.max_prior import max_prior

SESSIONS, TURNS, DIMENSION = 1000, 8, 1024
ARGUMENTS_PER_TURN = ([1, 2, 3, 4, 5, 6], [0.04, 0.10, 0.19, 0.45, 0.18, 0.04])  # 3.75 on average


@dataclass(frozen=True)
class Archive:
    """Unit vectors float32 (n, d) of argument units, sorted by session, turn and argument."""

    vectors: np.ndarray
    session: np.ndarray
    turn: np.ndarray


@dataclass(frozen=True)
class Answer:
    """Similarity (NaN without a prior pool) and row of the nearest earlier argument (-1)."""

    similarity: np.ndarray
    nearest: np.ndarray


def make_archive(rng: np.random.Generator) -> Archive:
    """Arguments scattered around their session's theme, so that cosines lie where those of real claims do."""
    sizes = rng.choice(ARGUMENTS_PER_TURN[0], p=ARGUMENTS_PER_TURN[1], size=SESSIONS * TURNS)
    session = np.repeat(np.repeat(np.arange(SESSIONS), TURNS), sizes)
    turn = np.repeat(np.tile(np.arange(1, TURNS + 1), SESSIONS), sizes)
    theme = rng.standard_normal((SESSIONS, DIMENSION), dtype=np.float32)
    vectors = theme[session] + rng.standard_normal((len(session), DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Archive(vectors, session, turn)


def ours(archive: Archive, backend: str) -> Answer:
    result = max_prior(archive.vectors, archive.session, archive.turn, backend)
    return Answer(result.similarity, result.nearest)


def semantic_search_per_turn(archive: Archive) -> Answer:
    n = len(archive.session)
    similarity, nearest = np.full(n, np.nan), np.full(n, -1)
    vectors = torch.from_numpy(archive.vectors)
    turn_starts = np.flatnonzero(np.diff(archive.session * (TURNS + 1) + archive.turn, prepend=-1))
    session_start = 0
    for start, end in zip(turn_starts, np.append(turn_starts[1:], n), strict=True):
        if archive.session[start] != archive.session[session_start]:
            session_start = start
        if start == session_start:
            continue
        hits = util.semantic_search(
            vectors[start:end], vectors[session_start:start], top_k=1, score_function=util.dot_score
        )
        for row, (hit,) in enumerate(hits, start):
            similarity[row], nearest[row] = hit["score"], session_start + hit["corpus_id"]
    return Answer(similarity, nearest)


def open_duckdb(archive: Archive) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    arguments = pa.table(
        {
            "row": np.arange(len(archive.session)),
            "session": archive.session,
            "turn": archive.turn,
            "vector": pa.FixedSizeListArray.from_arrays(archive.vectors.reshape(-1), DIMENSION),
        }
    )
    connection.register("arguments_arrow", arguments)
    connection.execute("create table arguments as select * from arguments_arrow")
    return connection


def duckdb_self_join(connection: duckdb.DuckDBPyConnection, n: int) -> Answer:
    rows = connection.execute(
        """
        select
            later.row,
            max(array_inner_product(later.vector, earlier.vector)) as similarity,
            arg_max(earlier.row, array_inner_product(later.vector, earlier.vector)) as nearest
        from arguments as later
        inner join arguments as earlier
            on later.session = earlier.session and earlier.turn < later.turn
        group by later.row
        """
    ).fetchnumpy()
    similarity, nearest = np.full(n, np.nan), np.full(n, -1)
    similarity[rows["row"]], nearest[rows["row"]] = rows["similarity"], rows["nearest"]
    return Answer(similarity, nearest)


def check_same(answer: Answer, reference: Answer, archive: Archive, what: str) -> None:
    """The same similarities, and the same rows but for priors that float32 cannot tell apart."""
    np.testing.assert_allclose(answer.similarity, reference.similarity, rtol=0, atol=1e-5, err_msg=what)
    differ = np.flatnonzero(answer.nearest != reference.nearest)
    x = archive.vectors.astype(np.float64)
    cosine = np.einsum("ij,ij->i", x[differ], x[answer.nearest[differ]])
    np.testing.assert_allclose(cosine, reference.similarity[differ], rtol=0, atol=1e-6, err_msg=what)


def seconds(action: Callable[[], object], repeats: int) -> float:
    """Median of the repeats."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def matmul_seconds(flops: float, dtype: type, rng: np.random.Generator, repeats: int) -> float:
    """One square matrix product of as many floating-point operations: the most the BLAS of this machine can do."""
    size = round((flops / 2) ** (1 / 3))
    a, b = (rng.standard_normal((size, size)).astype(dtype) for _ in range(2))
    return seconds(lambda: a @ b, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="of the fast measurements; the slow ones run 3 times")
    repeats = parser.parse_args().repeats

    rng = np.random.default_rng(42)
    archive = make_archive(rng)
    n = len(archive.session)
    connection = open_duckdb(archive)

    reference = ours(archive, "numpy")
    check_same(ours(archive, "torch"), reference, archive, "torch")
    check_same(semantic_search_per_turn(archive), reference, archive, "semantic_search")
    check_same(duckdb_self_join(connection, n), reference, archive, "DuckDB")

    sizes = np.bincount(archive.session)
    flops = float(2 * DIMENSION * (sizes**2).sum())
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    measured = {
        "max_prior, NumPy, float64": seconds(lambda: ours(archive, "numpy"), repeats),
        f"max_prior, torch on {device}, float64": seconds(lambda: ours(archive, "torch"), repeats),
        "`util.semantic_search` per turn, float32": seconds(lambda: semantic_search_per_turn(archive), 3),
        "DuckDB self-join, `array_inner_product`, float32": seconds(lambda: duckdb_self_join(connection, n), 3),
        "limit: one float64 matrix product of the same size": matmul_seconds(flops, np.float64, rng, repeats),
        "limit: one float32 matrix product of the same size": matmul_seconds(flops, np.float32, rng, repeats),
        "limit: reading the vectors once": seconds(archive.vectors.sum, repeats),
    }

    print(f"{n:,} argument units × {DIMENSION:,} dimensions, {SESSIONS:,} sessions, {flops / 1e9:.2f} GFLOP.")
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}, torch {torch.__version__}, "
        f"sentence-transformers {sentence_transformers.__version__}, DuckDB {duckdb.__version__}. "
        "All ways gave the same answers.\n"
    )
    print("| | seconds | times max_prior |\n|---|---:|---:|")
    base = measured["max_prior, NumPy, float64"]
    for what, taken in measured.items():
        print(f"| {what} | {taken:.3f} | {taken / base:.2f} |")


if __name__ == "__main__":
    main()
