"""Vectors on disk, found by the content of their text.

One directory per encoder setting holds `spec.json` and append-only parts. A part is written under a temporary name and
renamed when it is complete, so a killed process loses at most the texts it had not yet appended.
"""

import dataclasses
import fcntl
import io
import json
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embeddings.schemas import vector_part
from embeddings.spec import EncoderSpec, Provenance

PROVENANCE = b"provenance"
KEY_TYPE = np.dtype("S32")


class StoreError(RuntimeError):
    """A file of the store is damaged, or does not belong to it."""


@dataclasses.dataclass(frozen=True)
class _PartIndex:
    path: Path
    keys: np.ndarray
    over_max_length: np.ndarray
    dimension: int
    provenance: Provenance


class VectorStore:
    """The vectors of one encoder's settings, in `root/<encoder>-<key>/`.

    In memory it keeps about 40 bytes a text (its key and its place) and the parts read last, up to `cache_bytes`.
    Several processes may append at once; a text that two of them encoded keeps the vector of the older part.
    """

    def __init__(self, root: Path, spec: EncoderSpec, cache_bytes: int = 128 << 20) -> None:
        """Opens the store, and makes it when it is new.

        Raises:
            StoreError: a part or `spec.json` is damaged.
        """
        self.spec = spec
        self.path = root / spec.directory_name
        self.dimension: int | None = None
        self._cache: OrderedDict[int, np.ndarray] = OrderedDict()
        self._cache_bytes = cache_bytes
        self._parts: list[Path] = []
        self._provenances: list[Provenance] = []
        self._keys = np.empty(0, dtype=KEY_TYPE)
        self._part = np.empty(0, dtype=np.int32)
        self._row = np.empty(0, dtype=np.int32)
        self._over = np.empty(0, dtype=np.bool_)

        self.path.mkdir(parents=True, exist_ok=True)
        self._check_spec()
        self._remove_leftovers()
        # Names begin with the time of writing: the older part comes first, and its vectors win.
        self._index([self._read_index(path) for path in sorted(self.path.glob("part-*.parquet"))])

    def __len__(self) -> int:
        """Distinct texts."""
        return len(self._keys)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Position of each text key (`S32`), -1 where it has no vector: int64 (n,). Appending moves positions."""
        places = np.searchsorted(self._keys, keys)
        found = np.zeros(len(keys), dtype=np.bool_)
        inside = places < len(self._keys)
        found[inside] = self._keys[places[inside]] == keys[inside]
        return np.where(found, places, -1)

    def vectors(self, positions: np.ndarray) -> np.ndarray:
        """The vectors at positions that `find` returned: float32 (n, dimension)."""
        out = np.empty((len(positions), self.dimension or 0), dtype=np.float32)
        parts = self._part[positions]
        for part in np.unique(parts):
            wanted = parts == part
            out[wanted] = self._vectors_of_part(part)[self._row[positions[wanted]]]
        return out

    def over_max_length(self, positions: np.ndarray) -> np.ndarray:
        """Whether the text at each position is longer than the encoder's max_length: bool (n,)."""
        return self._over[positions]

    def provenances(self, positions: np.ndarray) -> list[Provenance]:
        """How the vectors at these positions were computed, each way once, oldest first."""
        ways: list[Provenance] = []
        for part in np.unique(self._part[positions]):
            if self._provenances[part] not in ways:
                ways.append(self._provenances[part])
        return ways

    def require_revision(self, resolved_revision: str) -> None:
        """Refuses weights other than those of the vectors already here.

        Raises:
            StoreError: a declared revision such as `main` stands for another commit than it did.
        """
        for path, provenance in zip(self._parts, self._provenances, strict=True):
            if provenance.resolved_revision != resolved_revision:
                raise StoreError(
                    f"{self.path} holds vectors of {self.spec.model} at {provenance.resolved_revision} ({path.name}), "
                    f"but revision {self.spec.revision!r} is now {resolved_revision}: declare the revision you want "
                    f"for encoder {self.spec.name!r} in encoders.yaml, which encodes into a directory of its own"
                )

    def append(
        self,
        keys: Sequence[bytes],
        vectors: np.ndarray,
        n_tokens: np.ndarray,
        over_max_length: np.ndarray,
        provenance: Provenance,
    ) -> None:
        """Writes one part, durable when this returns. Arrays have one entry (vectors: one row) per key."""
        schema = vector_part(vectors.shape[1])
        if self.dimension not in (None, vectors.shape[1]):
            raise StoreError(f"{self.path} holds vectors of {self.dimension} numbers, not {vectors.shape[1]}")
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
        table = pa.Table.from_arrays(
            [
                pa.array(keys, type=pa.binary(32)),
                pa.FixedSizeListArray.from_arrays(flat, type=schema.field("vector").type),
                pa.array(n_tokens, type=pa.int32()),
                pa.array(over_max_length, type=pa.bool_()),
            ],
            schema=schema.with_metadata({PROVENANCE: json.dumps(dataclasses.asdict(provenance), sort_keys=True)}),
        )
        content = io.BytesIO()
        # Random digits do not compress; checksums let a damaged page be noticed.
        pq.write_table(table, content, compression="none", use_dictionary=False, write_page_checksum=True)
        path = self.path / f"part-{time.time_ns():020d}-{secrets.token_hex(4)}.parquet"
        _write_whole(path, content.getbuffer())
        self._index(
            [_PartIndex(path, np.array(keys, KEY_TYPE), np.array(over_max_length), vectors.shape[1], provenance)]
        )

    def _check_spec(self) -> None:
        path = self.path / "spec.json"
        declared = {**dataclasses.asdict(self.spec), "key": self.spec.key}
        if not path.exists():
            _write_whole(path, json.dumps(declared, indent=2, ensure_ascii=False).encode())
            return
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise StoreError(f"{path} is damaged ({error}); delete it, it is written again") from error
        if written != declared:
            raise StoreError(f"{path} was changed by hand; delete {self.path} and encode again, or restore the file")

    def _remove_leftovers(self) -> None:
        for path in self.path.glob("*.tmp"):
            try:
                with path.open("rb") as file:
                    # A writer holds this lock while it lives.
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
            except (BlockingIOError, FileNotFoundError):
                continue

    def _read_index(self, path: Path) -> _PartIndex:
        try:
            file = pq.ParquetFile(path, page_checksum_verification=True)
            schema = file.schema_arrow
            dimension = schema.field("vector").type.list_size
            if not schema.remove_metadata().equals(vector_part(dimension)):
                raise ValueError(f"its columns are {', '.join(schema.names)}")
            provenance = Provenance(**json.loads(schema.metadata[PROVENANCE]))
            table = file.read(columns=["text_sha256", "over_max_length"])
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged(path, error) from error
        keys = np.array(table["text_sha256"].to_pylist(), dtype=KEY_TYPE)
        return _PartIndex(path, keys, table["over_max_length"].to_numpy(), dimension, provenance)

    def _index(self, parts: list[_PartIndex]) -> None:
        if not parts:
            return
        for part in parts:
            if self.dimension not in (None, part.dimension):
                raise StoreError(
                    f"{part.path} holds vectors of {part.dimension} numbers, the parts before it {self.dimension}"
                )
            self.dimension = part.dimension
        first = len(self._parts)
        self._parts += [part.path for part in parts]
        self._provenances += [part.provenance for part in parts]
        # Of equal keys np.unique returns the first, which is that of the older part.
        keys, kept = np.unique(np.concatenate([part.keys for part in parts]), return_index=True)
        numbers = np.concatenate([np.full(len(part.keys), first + i, dtype=np.int32) for i, part in enumerate(parts)])
        rows = np.concatenate([np.arange(len(part.keys), dtype=np.int32) for part in parts])
        over = np.concatenate([part.over_max_length for part in parts])
        new = self.find(keys) < 0
        places, kept = np.searchsorted(self._keys, keys[new]), kept[new]
        self._keys = np.insert(self._keys, places, keys[new])
        self._part = np.insert(self._part, places, numbers[kept])
        self._row = np.insert(self._row, places, rows[kept])
        self._over = np.insert(self._over, places, over[kept])

    def _vectors_of_part(self, part: int) -> np.ndarray:
        if part in self._cache:
            self._cache.move_to_end(part)
            return self._cache[part]
        path = self._parts[part]
        try:
            table = pq.ParquetFile(path, page_checksum_verification=True).read(columns=["vector"])
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path, error) from error
        vectors = table["vector"].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)
        self._cache[part] = vectors
        while len(self._cache) > 1 and sum(cached.nbytes for cached in self._cache.values()) > self._cache_bytes:
            self._cache.popitem(last=False)
        return vectors


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path} is damaged ({error}); delete it and encode again, which makes only its vectors anew")


def _write_whole(path: Path, content: bytes | memoryview) -> None:
    """Writes a file that is either complete under its name or not there, also when the process is killed."""
    while True:
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        with temporary.open("xb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file.fileno()).st_nlink:
                continue  # another process swept it up between its creation and the lock
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
            return
