import dataclasses
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from embeddings import pairs as module
from embeddings.arguments import ArgumentsError, read_sessions
from embeddings.encode import encode_arguments
from embeddings.encoders import DECLARED
from embeddings.fields import field_text, text_key
from embeddings.pairs import MissingVectorsError, write_max_prior_pairs
from embeddings.schemas import ENCODERS, PAIRS
from embeddings.spec import EncoderSpec, Provenance
from embeddings.store import VectorStore

WORDS = ["fares", "deter", "poor", "people", "trips", "tax", "budgets", "reciprocity", "concessions", "roads"]


@pytest.fixture
def archive(argument) -> list[dict]:
    """Twelve sessions, two extractors, missing turns, and texts that return within and across sessions."""
    rng = np.random.default_rng(0)
    rows = []
    for session in range(12):
        for extractor in ("first", "second"):
            for turn in sorted(rng.choice(np.arange(1, 9), size=6, replace=False)):
                for index in range(1, int(rng.integers(1, 5)) + 1):
                    claim = " ".join(rng.choice(WORDS, size=2))
                    warrant = str(rng.choice(["", *WORDS]))
                    rows.append(argument(f"s{session:02}", int(turn), index, claim, warrant, extractor))
    return rows


@pytest.fixture
def stores(tmp_path, spec, fake_encoder):
    """Two encoders that differ in their prefix, and so in every vector."""
    specs = [spec, dataclasses.replace(spec, name="other", prefix="query: ")]
    return {one.name: VectorStore(tmp_path / "vectors", one) for one in specs}


def fill(path, stores, fields) -> None:
    for store in stores.values():
        encode_arguments(path, store.spec, fields, store)


def brute_force(rows: list[dict], encoder, prefix: str, field: str) -> dict[tuple, tuple]:
    """Nearest earlier argument of every argument, one pair of vectors at a time."""

    def vector(row: dict) -> np.ndarray:
        text = field_text(row["claim"], row["warrant"], row["evidence_or_example"], field)
        raw = encoder.encode(encoder, [prefix + text])[0].astype(np.float64)
        return raw / np.linalg.norm(raw)

    vectors = [vector(row) for row in rows]
    expected = {}
    for a, row in zip(vectors, rows, strict=True):
        pool = [
            (round(float(a @ b), 12), -other["turn_index"], -other["argument_index"], other["argument_id"])
            for b, other in zip(vectors, rows, strict=True)
            if other["session_id"] == row["session_id"]
            and other["extractor"] == row["extractor"]
            and other["turn_index"] < row["turn_index"]
        ]
        best = max(pool, default=(None, 0, 0, None))
        expected[row["argument_id"], row["extractor"], field] = (best[3], best[0], len(pool))
    return expected


def written(path) -> dict[tuple, tuple]:
    rows = pq.read_table(path).to_pylist()
    found = {
        (row["argument_id"], row["extractor"], row["field"]): (
            row["nearest_argument_id"],
            None if row["similarity"] is None else round(row["similarity"], 12),
            row["prior_pool_size"],
        )
        for row in rows
    }
    assert len(found) == len(rows)
    return found


def test_pairs_equal_brute_force_and_never_mix_sessions_extractors_encoders_or_fields(
    tmp_path, archive, stores, fake_encoder, write_arguments, monkeypatch
):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 50)
    fake_encoder.spec = dataclasses.replace(stores["fake"].spec, prefix="")
    fields = ["claim", "claim_warrant"]
    path = write_arguments(archive)
    fill(path, stores, fields)
    report = write_max_prior_pairs(path, stores, fields, tmp_path / "pairs")

    for name, store in stores.items():
        expected = {}
        for field in fields:
            expected |= brute_force(archive, fake_encoder, store.spec.prefix, field)
        found = written(tmp_path / "pairs" / f"pairs-{name}.parquet")
        assert {key: (value[0], value[2]) for key, value in found.items()} == {
            key: (value[0], value[2]) for key, value in expected.items()
        }
        for key, (_, similarity, _) in found.items():
            assert similarity == pytest.approx(expected[key][1], abs=1e-11)
    assert [entry.pairs for entry in report.encoders] == [2 * len(archive)] * 2
    assert report.arguments == len(archive)


def test_files_follow_the_written_schemas_and_say_what_made_them(tmp_path, archive, stores, write_arguments):
    path = write_arguments(archive)
    fill(path, stores, ["claim"])
    report = write_max_prior_pairs(path, stores, ["claim"], tmp_path / "pairs")
    pairs = pq.read_table(tmp_path / "pairs" / "pairs-fake.parquet")
    assert pairs.schema.equals(PAIRS)
    assert set(pairs["encoder"].to_pylist()) == {"fake"}

    encoders = pq.read_table(tmp_path / "pairs" / "encoders.parquet")
    assert encoders.schema.equals(ENCODERS)
    fake, other = encoders.to_pylist()
    assert (fake["encoder"], fake["encoder_key"]) == ("fake", stores["fake"].spec.key)
    assert (fake["revision"], fake["resolved_revision"], fake["dimension"]) == ("main", "commit-1", 16)
    assert fake["library_versions"] == [("fake", "1")]
    assert other["prefix"] == "query: "
    assert fake["n_texts"] == len({row["claim"] for row in archive}) == report.encoders[0].texts


def test_texts_over_the_maximum_length_are_marked_in_their_pairs_and_counted_once(
    tmp_path, argument, stores, write_arguments
):
    long = "word " * 9
    path = write_arguments(
        [argument("s", 1, 1, long), argument("s", 2, 1, "short"), argument("s", 3, 1, long), argument("t", 1, 1, long)]
    )
    fill(path, stores, ["claim"])
    report = write_max_prior_pairs(path, stores, ["claim"], tmp_path / "pairs")
    pairs = pq.read_table(tmp_path / "pairs" / "pairs-fake.parquet")
    assert pairs["over_max_length"].to_pylist() == [True, False, True, True]
    assert report.encoders[0].over_max_length == 3
    assert pq.read_table(tmp_path / "pairs" / "encoders.parquet")["n_over_max_length"].to_pylist() == [1, 1]


def test_an_argument_without_a_prior_pool_has_nulls_and_is_counted(tmp_path, argument, stores, write_arguments):
    path = write_arguments([argument("s", 2, 1, "a"), argument("s", 2, 2, "b"), argument("s", 3, 1, "b")])
    fill(path, stores, ["claim"])
    report = write_max_prior_pairs(path, stores, ["claim"], tmp_path / "pairs")
    pairs = pq.read_table(tmp_path / "pairs" / "pairs-fake.parquet")
    assert pairs["nearest_argument_id"].to_pylist() == [None, None, "s/2/2"]
    assert pairs["similarity"].to_pylist() == [None, None, pytest.approx(1.0)]
    assert report.encoders[0].without_prior_pool == 2


def test_the_same_input_gives_the_same_bytes_whatever_the_order_of_rows_within_a_session(
    tmp_path, archive, stores, write_arguments
):
    path = write_arguments(archive)
    shuffled = list(archive)
    np.random.default_rng(1).shuffle(shuffled)
    shuffled.sort(key=lambda row: row["session_id"])
    other_path = write_arguments(shuffled, "shuffled.parquet")
    fill(path, stores, ["claim"])
    for source, dest in ((path, "one"), (path, "two"), (other_path, "three")):
        write_max_prior_pairs(source, dict(reversed(stores.items())), ["claim"], tmp_path / dest)
    for file in ("pairs-fake.parquet", "pairs-other.parquet", "encoders.parquet"):
        assert len({(tmp_path / dest / file).read_bytes() for dest in ("one", "two", "three")}) == 1


def test_a_text_without_a_vector_is_an_error_that_says_how_to_fill_the_store(
    tmp_path, archive, stores, write_arguments
):
    path = write_arguments(archive)
    fill(path, stores, ["claim"])
    with pytest.raises(MissingVectorsError, match=r"has no vector of encoder 'fake'.*encode_arguments"):
        write_max_prior_pairs(path, stores, ["claim", "claim_warrant"], tmp_path / "pairs")


def test_progress_counts_the_rows_of_every_encoder(tmp_path, archive, stores, write_arguments, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 100)
    monkeypatch.setattr("embeddings.arguments.ROWS_PER_READ", 50)
    path = write_arguments(archive)
    fill(path, stores, ["claim"])
    seen = []
    write_max_prior_pairs(path, stores, ["claim"], tmp_path / "pairs", lambda *step: seen.append(step))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert len(seen) > 4 and seen[-1] == (2 * len(archive), 2 * len(archive))


def test_an_empty_archive_gives_empty_tables_with_their_columns(tmp_path, stores, write_arguments):
    write_max_prior_pairs(write_arguments([]), stores, ["claim"], tmp_path / "pairs")
    pairs = pq.read_table(tmp_path / "pairs" / "pairs-fake.parquet")
    assert pairs.num_rows == 0 and pairs.schema.equals(PAIRS)
    encoders = pq.read_table(tmp_path / "pairs" / "encoders.parquet").to_pylist()
    assert [(row["encoder"], row["n_texts"], row["dimension"]) for row in encoders] == [
        ("fake", 0, None),
        ("other", 0, None),
    ]


@pytest.mark.parametrize("least_rows", [1, 2, 3, 1000])
def test_sessions_are_read_whole_however_the_file_is_cut(argument, write_arguments, monkeypatch, least_rows):
    monkeypatch.setattr("embeddings.arguments.ROWS_PER_READ", 2)
    sizes = [1, 5, 2, 2, 7, 1]
    rows = [argument(f"s{i}", 1, j, "c") for i, size in enumerate(sizes) for j in range(size)]
    tables = list(read_sessions(write_arguments(rows), least_rows))
    seen = [session for table in tables for session in dict.fromkeys(table["session_id"].to_pylist())]
    assert seen == [f"s{i}" for i in range(6)]
    assert sum(table.num_rows for table in tables) == sum(sizes)


def test_a_session_in_two_pieces_is_refused(argument, write_arguments):
    rows = [argument("s", 1, 1, "a"), argument("t", 1, 1, "b"), argument("s", 2, 1, "c")]
    path = write_arguments(rows)
    with pytest.raises(ArgumentsError, match="rows of session s do not lie together"):
        list(read_sessions(path, 1_000))
    with pytest.raises(ArgumentsError, match="rows of session s do not lie together"):
        list(read_sessions(path, 1))


def test_an_argument_that_is_there_twice_is_refused(argument, write_arguments):
    row = argument("s", 1, 1, "a")
    path = write_arguments([row, argument("s", 1, 1, "a", extractor="y"), row])
    with pytest.raises(ArgumentsError, match="argument s/1/1 of x is there twice"):
        list(read_sessions(path, 1_000))


def test_a_file_without_the_promised_columns_is_refused(tmp_path):
    path = tmp_path / "arguments.parquet"
    pq.write_table(pa.table({"argument_id": ["a"]}), path)
    with pytest.raises(ArgumentsError, match="lacks the columns argument_index, claim"):
        list(read_sessions(path, 10))
    path.write_bytes(b"no parquet")
    with pytest.raises(ArgumentsError, match="no readable Parquet file"):
        list(read_sessions(path, 10))


PEAK_MEMORY = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    sys.modules["torch"] = None  # its own 200 MB are not the question
    from embeddings.pairs import write_max_prior_pairs
    from embeddings.spec import EncoderSpec
    from embeddings.store import VectorStore

    directory = Path(sys.argv[1])
    spec = EncoderSpec("e", "none", "m", "1", "", "float32", 1, None, True)
    store = VectorStore(directory, spec, cache_bytes=8 << 20)
    write_max_prior_pairs(directory / "arguments.parquet", {"e": store}, ["claim"], directory / "pairs")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    """
)


def test_memory_does_not_grow_with_the_number_of_sessions(tmp_path, argument, write_arguments):
    spec = EncoderSpec("e", "none", "m", "1", "", "float32", 1, None, True)
    peak = {}
    for sessions in (100, 800):
        store = VectorStore(tmp_path / str(sessions), spec)
        rows = []
        for session in range(sessions):
            for turn in range(1, 9):
                rows += [argument(f"s{session}", turn, i, f"{session} {turn} {i}") for i in range(1, 5)]
        for part in range(0, len(rows), 512):
            keys = [text_key(row["claim"]) for row in rows[part : part + 512]]
            vectors = np.random.default_rng(part).standard_normal((len(keys), 512), dtype=np.float32)
            no = np.zeros(len(keys), dtype=bool)
            store.append(keys, vectors, no, no, Provenance("cpu", "1", {}))
        write_arguments(rows, f"{sessions}/arguments.parquet")
        command = [sys.executable, "-c", PEAK_MEMORY, str(tmp_path / str(sessions))]
        run = subprocess.run(command, cwd=DECLARED.parent.parent, capture_output=True, text=True, check=True)
        peak[sessions] = float(run.stdout)
    # The vectors of the larger archive are 52 MB, those of the smaller 7 MB.
    assert peak[800] - peak[100] < 15, peak
