"""The null distribution: how near an argument comes to what was said before in debates about something else."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from embeddings.arguments import check_fields, read_chosen_sessions
from embeddings.max_prior import array_library
from embeddings.pairs import find_vectors
from embeddings.schemas import NULL_MAXIMA
from embeddings.store import VectorStore

# Other motions that one session is compared with at most; beyond that, as many are drawn.
OTHER_MOTIONS = 100

# Bounds the cosines held at once.
BLOCK_BYTES = 64 << 20


@dataclass(frozen=True)
class NullMaxima:
    """One entry per turn of a session and other session whose arguments of earlier turns it was compared with.

    session, other, turn_index: int64 (n,); the first two number the sessions as they were given.
    n_draws: arguments of the turn, each of which has one maximum; int64 (n,).
    mean: of these maxima; float64 (n,).
    sum_squared_deviations: of these maxima from their mean; float64 (n,).
    """

    session: np.ndarray
    other: np.ndarray
    turn_index: np.ndarray
    n_draws: np.ndarray
    mean: np.ndarray
    sum_squared_deviations: np.ndarray


@dataclass(frozen=True)
class NullReport:
    """What one call of `write_null_maxima` wrote: rows, and the maxima behind them, by encoder."""

    rows: dict[str, int]
    draws: dict[str, int]
    sessions: int
    sessions_without_another_motion: int


def null_maxima(
    vectors: np.ndarray,
    session: np.ndarray,
    turn_index: np.ndarray,
    compared: np.ndarray,
    backend: Literal["auto", "numpy", "torch"] = "auto",
) -> NullMaxima:
    """Largest cosine of each argument to the arguments that came before its turn in another session.

    For an argument at turn t the pool is what turn t would have had in the other session: the arguments of its turns
    before t. A turn that has no such argument in the other session has no entry for it.

    Args:
        vectors: float (n, d), of any length but zero.
        session: int (n,), the number of the session; rows are sorted by session and turn_index.
        turn_index: int (n,).
        compared: bool (s, s), whether the row's session is compared with the column's; never with itself.
        backend: "auto" is torch where there is a CUDA device, else NumPy.

    Source: sections 3.4 and F.1 of the paper on prior-argument similarity.
    """
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    first = np.flatnonzero(np.append(True, (session[1:] != session[:-1]) | (turn_index[1:] != turn_index[:-1])))
    length = np.diff(np.append(first, len(unit)))
    of_session = session[first]
    turn, place = np.unique(turn_index[first], return_inverse=True)
    largest_in_turns = _largest_in_turns(unit, first, length, backend)

    found = []
    bytes_per_row = 8 * max(len(unit), len(compared) * len(turn))
    for block in _blocks(length, max(1, BLOCK_BYTES // bytes_per_row)):
        n = length[block]
        rows = slice(first[block][0], first[block][0] + n.sum())
        # The largest in each turn of each other session, then in all turns up to each, then in all turns before ours.
        so_far = np.full((rows.stop - rows.start, len(compared), len(turn)), -np.inf)
        so_far[:, of_session, place] = largest_in_turns(rows)
        np.maximum.accumulate(so_far, axis=2, out=so_far)
        before = np.concatenate([np.full((*so_far.shape[:2], 1), -np.inf), so_far], axis=2)
        best = before[np.arange(len(before)), :, np.repeat(place[block], n)]

        starts = first[block] - rows.start
        has_pool = np.isfinite(best[starts])
        best = np.where(np.repeat(has_pool, n, axis=0), best, 0.0)
        mean = np.add.reduceat(best, starts) / n[:, None]
        deviation = best - np.repeat(mean, n, axis=0)
        sum_squared = np.add.reduceat(deviation**2, starts)
        ours, other = np.nonzero(has_pool & compared[of_session[block]])
        found.append(
            (
                of_session[block][ours],
                other,
                turn[place[block]][ours],
                n[ours],
                np.clip(mean[ours, other], -1.0, 1.0),
                sum_squared[ours, other],
            )
        )
    return NullMaxima(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _largest_in_turns(
    unit: np.ndarray, first: np.ndarray, length: np.ndarray, backend: str
) -> Callable[[slice], np.ndarray]:
    """A function that gives, for some rows, the largest cosine to the arguments of each turn: (rows, turns)."""
    xp, device = array_library(backend)
    if xp is np:
        return lambda rows: np.maximum.reduceat(unit[rows] @ unit.T, first, axis=1)
    on_device = xp.from_numpy(unit).to(device)
    turn_of_column = xp.from_numpy(np.repeat(np.arange(len(first)), length)).to(device)

    def largest(rows: slice) -> np.ndarray:
        cosine = on_device[rows] @ on_device.T
        empty = xp.full((len(cosine), len(first)), -xp.inf, dtype=cosine.dtype, device=device)
        return empty.scatter_reduce(1, turn_of_column.expand(len(cosine), -1), cosine, "amax").cpu().numpy()

    return largest


def _blocks(length: np.ndarray, most_rows: int) -> list[slice]:
    """Runs of turns with at most `most_rows` rows together, or one turn."""
    blocks, start, rows = [], 0, 0
    for turn, n in enumerate(length.tolist()):
        if rows and rows + n > most_rows:
            blocks.append(slice(start, turn))
            start, rows = turn, 0
        rows += n
    return [*blocks, slice(start, len(length))]


def write_null_maxima(
    arguments_path: Path,
    sessions_path: Path,
    stores: Mapping[str, VectorStore],
    fields: Sequence[str],
    seed: int,
    dest: Path,
    progress: Callable[[int, int], None] | None = None,
) -> NullReport:
    """Writes `null-<encoder>.parquet` for every encoder into the directory `dest`.

    A session is compared with the sessions of the other motions in its language, condition and repeat, and within one
    extractor, encoder and field. Of more than `OTHER_MOTIONS` other motions that many are drawn, with `seed`, for each
    session anew. One language, condition and repeat is in memory at a time; the same input gives the same bytes.

    Args:
        arguments_path: `arguments.parquet`.
        sessions_path: `sessions.parquet`, with session_id, motion_id, language, condition and repeat.
        stores: the filled store of each encoder, by the encoder's name.
        progress: called with (sessions done, sessions to do), a session counted once per encoder.

    Raises:
        ArgumentsError: the arguments are not what their contract says.
        MissingVectorsError: a text has no vector.
        StoreError: a part of a store is damaged.
    """
    check_fields(fields)
    cells = list(_cells(pq.read_table(sessions_path)))
    n_sessions = sum(len(sessions) for _, sessions in cells)
    rows, draws, done = {}, {}, 0
    for name in sorted(stores):
        rows[name] = draws[name] = 0
        with pq.ParquetWriter(dest / f"null-{name}.parquet", NULL_MAXIMA) as writer:
            for key, sessions in cells:
                compared = _compared([motion for _, motion in sessions], key, seed)
                ids = [session_id for session_id, _ in sessions]
                for table in _by_extractor(read_chosen_sessions(arguments_path, ids)):
                    for field in fields:
                        block = _block(table, ids, compared, stores[name], field, arguments_path)
                        writer.write_table(block)
                        rows[name] += block.num_rows
                        draws[name] += pc.sum(block["n_draws"]).as_py() or 0
                done += len(sessions)
                if progress:
                    progress(done, n_sessions * len(stores))
    alone = sum(len(sessions) for _, sessions in cells if len({motion for _, motion in sessions}) == 1)
    return NullReport(rows, draws, n_sessions, alone)


def _cells(sessions: pa.Table) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each language, condition and repeat, with its sessions as (session_id, motion_id), sorted."""
    cells: dict[tuple, list[tuple[str, str]]] = {}
    for row in sessions.select(["session_id", "motion_id", "language", "condition", "repeat"]).to_pylist():
        key = (row["language"], row["condition"], row["repeat"] or 1)
        cells.setdefault(key, []).append((row["session_id"], row["motion_id"]))
    for key in sorted(cells):
        yield "\0".join(map(str, key)), sorted(cells[key])


def _compared(motions: list[str], key: str, seed: int) -> np.ndarray:
    """Which sessions (rows) are compared with which (columns). What a cell draws does not depend on the other cells."""
    motion = np.array(motions)
    other = motion[:, None] != motion[None, :]
    distinct = np.unique(motion)
    if len(distinct) - 1 > OTHER_MOTIONS:
        rng = np.random.default_rng([seed, zlib.crc32(key.encode())])
        for row, own in enumerate(motion):
            drawn = rng.choice(distinct[distinct != own], OTHER_MOTIONS, replace=False)
            other[row] &= np.isin(motion, drawn)
    return other


def _by_extractor(table: pa.Table) -> Iterator[pa.Table]:
    for extractor in sorted(set(table["extractor"].to_pylist())):
        yield table.filter(pc.equal(table["extractor"], extractor))


def _block(
    table: pa.Table, ids: list[str], compared: np.ndarray, store: VectorStore, field: str, arguments_path: Path
) -> pa.Table:
    positions = find_vectors(table, store, field, arguments_path)
    session = pc.index_in(table["session_id"], pa.array(ids)).to_numpy().astype(np.int64)
    result = null_maxima(store.vectors(positions), session, table["turn_index"].to_numpy(), compared)
    names, n = pa.array(ids), len(result.session)
    columns = {
        "session_id": names.take(pa.array(result.session)),
        "other_session_id": names.take(pa.array(result.other)),
        "extractor": pa.repeat(table["extractor"][0].as_py(), n),
        "encoder": pa.repeat(store.spec.name, n),
        "field": pa.repeat(field, n),
        "turn_index": pa.array(result.turn_index),
        "n_draws": pa.array(result.n_draws),
        "mean": pa.array(result.mean),
        "sum_squared_deviations": pa.array(result.sum_squared_deviations),
    }
    return pa.table(columns).cast(NULL_MAXIMA)
