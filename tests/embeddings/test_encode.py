import dataclasses
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from embeddings import arguments as arguments_module
from embeddings import encode as module
from embeddings.arguments import ArgumentsError
from embeddings.encode import encode_arguments
from embeddings.encoders import DECLARED, load_specs
from embeddings.fields import text_key
from embeddings.spec import EncodingError
from embeddings.store import KEY_TYPE, VectorStore

ROOT = DECLARED.parent.parent


def vectors_by_text(store: VectorStore, texts) -> np.ndarray:
    positions = store.find(np.array([text_key(text) for text in texts], dtype=KEY_TYPE))
    assert (positions >= 0).all()
    return store.vectors(positions)


def test_each_distinct_text_is_encoded_once_over_sessions_turns_and_fields(
    tmp_path, spec, fake_encoder, argument, write_arguments
):
    path = write_arguments(
        [
            argument("s1", 1, 1, "same claim", "warrant"),
            argument("s1", 2, 1, " same claim\n", "warrant"),
            argument("s1", 2, 2, "no warrant", ""),
            argument("s2", 1, 1, "same claim", "other"),
        ]
    )
    report = encode_arguments(path, spec, ["claim", "claim_warrant"], VectorStore(tmp_path / "vectors", spec))
    expected = ["no warrant", "same claim", "same claim other", "same claim warrant"]
    assert sorted(fake_encoder.seen) == expected
    assert (report.texts, report.reused, report.encoded) == (4, 0, 4)


def test_adding_a_session_encodes_only_its_new_texts(tmp_path, spec, fake_encoder, argument, write_arguments):
    rows = [argument("s1", 1, 1, "one"), argument("s1", 2, 1, "two")]
    encode_arguments(write_arguments(rows), spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    fake_encoder.seen.clear()
    more = write_arguments([*rows, argument("s2", 1, 1, "two"), argument("s2", 2, 1, "three")])
    report = encode_arguments(more, spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    assert fake_encoder.seen == ["three"]
    assert (report.texts, report.reused, report.encoded) == (3, 2, 1)


def test_when_nothing_is_new_the_encoder_is_not_even_opened(
    tmp_path, spec, fake_encoder, argument, write_arguments, monkeypatch
):
    path = write_arguments([argument("s1", 1, 1, "one")])
    store = VectorStore(tmp_path / "vectors", spec)
    first = encode_arguments(path, spec, ["claim"], store)
    monkeypatch.setattr(module, "open_encoder", lambda spec: pytest.fail("opened"))
    again = encode_arguments(path, spec, ["claim"], store)
    assert (again.reused, again.encoded, again.provenances) == (1, 0, first.provenances)


def test_texts_over_the_maximum_length_are_counted_whether_new_or_reused(
    tmp_path, spec, fake_encoder, argument, write_arguments
):
    path = write_arguments([argument("s", 1, 1, "w " * 8), argument("s", 1, 2, "w " * 9)])
    store = VectorStore(tmp_path / "vectors", spec)
    assert [encode_arguments(path, spec, ["claim"], store).over_max_length for _ in range(2)] == [1, 1]
    without_limit = dataclasses.replace(spec, max_length=None)
    report = encode_arguments(path, without_limit, ["claim"], VectorStore(tmp_path / "vectors", without_limit))
    assert report.over_max_length == 0


def test_a_nul_character_is_replaced_before_encoding_and_counted(
    tmp_path, spec, fake_encoder, argument, write_arguments
):
    path = write_arguments([argument("s", 1, 1, "before\0after"), argument("s", 1, 2, "plain")])
    report = encode_arguments(path, spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    assert sorted(fake_encoder.seen) == ["before\ufffdafter", "plain"]
    assert report.with_nul_replaced == 1


def test_what_follows_a_nul_character_reaches_the_vector(tmp_path, argument, write_arguments):
    spec = load_specs()["multilingual-e5-small"]
    texts = ["fares\0nuclear", "fares\0poor people", "fares"]
    path = write_arguments([argument("s", 1, i, text) for i, text in enumerate(texts, 1)])
    store = VectorStore(tmp_path / "vectors", spec)
    encode_arguments(path, spec, ["claim"], store)
    vectors = vectors_by_text(store, texts)
    assert len(np.unique(vectors, axis=0)) == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_useless_vector_stops_the_run_and_names_the_text(
    tmp_path, spec, fake_encoder, argument, write_arguments, monkeypatch, bad
):
    plain = fake_encoder.encode

    def encode(self, texts):
        return plain(self, texts) * np.where([text == "bad text" for text in texts], bad, 1.0)[:, None]

    monkeypatch.setattr(fake_encoder, "encode", encode)
    path = write_arguments([argument("s", 1, 1, "good"), argument("s", 1, 2, "bad text")])
    store = VectorStore(tmp_path / "vectors", spec)
    with np.errstate(invalid="ignore"), pytest.raises(EncodingError, match="'bad text'") as error:
        encode_arguments(path, spec, ["claim"], store)
    assert text_key("bad text").hex() in str(error.value)
    assert len(store) == 0


def test_progress_counts_the_texts_to_encode_and_ends_at_their_number(
    tmp_path, spec, fake_encoder, argument, write_arguments
):
    path = write_arguments([argument("s", 1, i, f"text {i}") for i in range(10)])
    seen = []
    encode_arguments(
        path, spec, ["claim"], VectorStore(tmp_path / "vectors", spec), lambda done, total: seen.append((done, total))
    )
    assert seen == [(4, 10), (8, 10), (10, 10)]


def test_parts_are_written_by_count_and_by_time(tmp_path, spec, fake_encoder, argument, write_arguments, monkeypatch):
    path = write_arguments([argument("s", 1, i, f"text {i}") for i in range(20)])

    def parts(root: str) -> int:
        store = VectorStore(tmp_path / root, spec)
        encode_arguments(path, spec, ["claim"], store)
        assert len(VectorStore(tmp_path / root, spec)) == 20
        return len(list(store.path.glob("part-*.parquet")))

    assert parts("default") == 1
    monkeypatch.setattr(module, "SECONDS_PER_PART", 0.0)
    assert parts("by time") == 5
    monkeypatch.setattr(module, "SECONDS_PER_PART", 60.0)
    monkeypatch.setattr(module, "TEXTS_PER_PART", 6)
    assert parts("by count") == 4


def test_a_text_that_waited_for_a_part_is_encoded_once(
    tmp_path, spec, fake_encoder, argument, write_arguments, monkeypatch
):
    """The first text waits when the second portion lists what is missing, and is written before it comes up there."""
    monkeypatch.setattr(module, "TEXTS_PER_PART", 3)
    monkeypatch.setattr(arguments_module, "ROWS_PER_READ", 4)
    texts = ["again", "b", "c", "d", "e", "f", "g", "again", "h"]
    path = write_arguments([argument("s", 1, i, text) for i, text in enumerate(texts)])
    report = encode_arguments(path, spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    assert sorted(fake_encoder.seen) == sorted(set(texts))
    assert report.encoded == len(set(texts))


def test_bundled_vectors_do_not_depend_on_the_order_of_the_arguments(tmp_path, argument, write_arguments):
    texts = [f"Fares of kind {i} " + "deter people " * (i % 4) for i in range(12)]
    rows = [argument("s", 1, i, text) for i, text in enumerate(texts)]
    for name in ("multilingual-e5-small", "use-multilingual-v3"):
        spec = load_specs()[name]
        forward, backward = VectorStore(tmp_path / "forward", spec), VectorStore(tmp_path / "backward", spec)
        encode_arguments(write_arguments(rows), spec, ["claim"], forward)
        encode_arguments(write_arguments(rows[::-1]), spec, ["claim"], backward)
        np.testing.assert_array_equal(vectors_by_text(forward, texts), vectors_by_text(backward, texts))


SLOW_RUN = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from embeddings import encode
    from embeddings.encoders import load_specs
    from embeddings.store import VectorStore

    encode.TEXTS_PER_PART = 5
    spec = load_specs()["use-multilingual-v3"]
    store = VectorStore(Path(sys.argv[2]), spec)
    encode.encode_arguments(Path(sys.argv[1]), spec, ["claim"], store, lambda done, total: time.sleep(0.02))
    """
)


def start(arguments: Path, vectors: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SLOW_RUN, str(arguments), str(vectors)], cwd=ROOT)


def test_a_run_killed_in_the_middle_goes_on_where_it_stood_and_ends_like_an_undisturbed_one(
    tmp_path, argument, write_arguments
):
    texts = [f"Argument number {i} about fares" for i in range(80)]
    path = write_arguments([argument("s", 1, i, text) for i, text in enumerate(texts)])
    spec = load_specs()["use-multilingual-v3"]
    directory = tmp_path / "killed" / spec.directory_name

    process = start(path, tmp_path / "killed")
    deadline = time.monotonic() + 30
    while len(list(directory.glob("part-*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL

    resumed = VectorStore(tmp_path / "killed", spec)
    survived = len(resumed)
    assert 15 <= survived < 80
    report = encode_arguments(path, spec, ["claim"], resumed)
    assert (report.reused, report.encoded) == (survived, 80 - survived)

    undisturbed = VectorStore(tmp_path / "undisturbed", spec)
    encode_arguments(path, spec, ["claim"], undisturbed)
    np.testing.assert_array_equal(vectors_by_text(resumed, texts), vectors_by_text(undisturbed, texts))


def test_two_processes_that_encode_at_once_leave_a_sound_store(tmp_path, argument, write_arguments):
    texts = [f"Argument number {i} about fares" for i in range(40)]
    path = write_arguments([argument("s", 1, i, text) for i, text in enumerate(texts)])
    processes = [start(path, tmp_path / "shared") for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]

    spec = load_specs()["use-multilingual-v3"]
    shared, alone = VectorStore(tmp_path / "shared", spec), VectorStore(tmp_path / "alone", spec)
    assert len(shared) == 40
    assert not list(shared.path.glob("*.tmp"))
    encode_arguments(path, spec, ["claim"], alone)
    np.testing.assert_array_equal(vectors_by_text(shared, texts), vectors_by_text(alone, texts))


def test_a_store_of_other_settings_is_refused(tmp_path, spec, argument, write_arguments):
    store = VectorStore(tmp_path / "vectors", dataclasses.replace(spec, prefix="query: "))
    with pytest.raises(ValueError, match="other settings"):
        encode_arguments(write_arguments([argument("s", 1, 1, "a")]), spec, ["claim"], store)


def test_an_argument_without_text_is_named(tmp_path, spec, fake_encoder, argument, write_arguments):
    path = write_arguments([argument("s", 1, 1, "a"), argument("s", 2, 1, "  ")])
    with pytest.raises(ArgumentsError, match="argument s/2/1 has no text in field claim") as error:
        encode_arguments(path, spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    assert str(path) in str(error.value)


@pytest.mark.parametrize("fields", [[], ["claims"], ["claim", "claim"]])
def test_unknown_or_repeated_fields_are_refused(tmp_path, spec, argument, write_arguments, fields):
    path = write_arguments([argument("s", 1, 1, "a")])
    with pytest.raises(ValueError, match="fields must be some of"):
        encode_arguments(path, spec, fields, VectorStore(tmp_path / "vectors", spec))


def test_an_empty_archive_encodes_nothing(tmp_path, spec, write_arguments):
    report = encode_arguments(write_arguments([]), spec, ["claim"], VectorStore(tmp_path / "vectors", spec))
    assert (report.texts, report.encoded, report.over_max_length) == (0, 0, 0)
