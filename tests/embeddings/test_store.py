import dataclasses
import fcntl
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from embeddings.fields import text_key
from embeddings.spec import Provenance
from embeddings.store import KEY_TYPE, StoreError, VectorStore

CPU = Provenance("cpu", "commit-1", {"torch": "2"})
GPU = Provenance("cuda: H200", "commit-1", {"torch": "3"})


def keys_of(texts) -> np.ndarray:
    return np.array([text_key(text) for text in texts], dtype=KEY_TYPE)


def vectors_of(texts, dimension: int = 8) -> np.ndarray:
    directions = [np.random.default_rng(list(text_key(text))).standard_normal(dimension) for text in texts]
    return np.stack(directions).astype(np.float32)


def add(store: VectorStore, texts, vectors=None, over=None, provenance: Provenance = CPU) -> None:
    over = np.zeros(len(texts), dtype=bool) if over is None else over
    vectors = vectors_of(texts) if vectors is None else vectors
    store.append([text_key(text) for text in texts], vectors, np.arange(len(texts)), over, provenance)


def test_vectors_are_found_again_in_the_order_asked_for_also_after_reopening(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    texts = [f"text {i}" for i in range(50)]
    for start in range(0, 50, 7):
        add(store, texts[start : start + 7])
    asked = [texts[i] for i in (49, 0, 7, 7, 13)]
    for opened in (store, VectorStore(tmp_path, spec)):
        assert len(opened) == 50 and opened.dimension == 8
        positions = opened.find(keys_of(asked))
        np.testing.assert_array_equal(opened.vectors(positions), vectors_of(asked))


def test_a_text_that_is_not_there_has_position_minus_one(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    assert store.find(keys_of(["a", "b"])).tolist() == [-1, -1]
    add(store, ["a"])
    assert store.find(keys_of(["b", "a", "c"])).tolist() == [-1, 0, -1]


def test_keys_that_end_in_zero_bytes_are_kept_apart(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    keys = [b"\x01" * 31 + b"\x00", b"\x01" * 30 + b"\x00\x00", b"\xff" * 32, b"\x00" * 32]
    vectors = np.eye(4, dtype=np.float32)
    store.append(keys, vectors, np.zeros(4), np.zeros(4, dtype=bool), CPU)
    for opened in (store, VectorStore(tmp_path, spec)):
        np.testing.assert_array_equal(opened.vectors(opened.find(np.array(keys, dtype=KEY_TYPE))), vectors)


def test_texts_over_the_maximum_length_stay_marked(tmp_path, spec):
    add(VectorStore(tmp_path, spec), ["a", "b"], over=np.array([False, True]))
    store = VectorStore(tmp_path, spec)
    assert store.over_max_length(store.find(keys_of(["b", "a"]))).tolist() == [True, False]


def test_other_settings_use_another_directory_and_see_none_of_the_vectors(tmp_path, spec):
    add(VectorStore(tmp_path, spec), ["a"])
    for change in ({"prefix": "query: "}, {"max_length": 9}, {"batch_size": 5}, {"dtype": "float16"}):
        other = VectorStore(tmp_path, dataclasses.replace(spec, **change))
        assert len(other) == 0
    assert len(list(tmp_path.iterdir())) == 5


def test_the_directory_says_in_words_which_settings_it_holds(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    assert store.path.name == f"fake-{spec.key[:12]}"
    assert json.loads((store.path / "spec.json").read_text()) == {**dataclasses.asdict(spec), "key": spec.key}


def test_a_directory_whose_settings_were_edited_is_refused(tmp_path, spec):
    path = VectorStore(tmp_path, spec).path / "spec.json"
    path.write_text(path.read_text().replace('"prefix": ""', '"prefix": "query: "'))
    with pytest.raises(StoreError, match=r"spec\.json was changed by hand"):
        VectorStore(tmp_path, spec)


def test_a_text_encoded_by_two_writers_keeps_the_vector_of_the_older_part(tmp_path, spec):
    one, two = VectorStore(tmp_path, spec), VectorStore(tmp_path, spec)
    add(one, ["a", "b"], np.full((2, 8), 1.0))
    add(two, ["b", "c"], np.full((2, 8), 2.0))
    for _ in range(2):
        store = VectorStore(tmp_path, spec)
        assert len(store) == 3
        assert store.vectors(store.find(keys_of(["a", "b", "c"])))[:, 0].tolist() == [1.0, 1.0, 2.0]


def test_what_a_killed_writer_left_is_removed_and_a_living_writer_keeps_its_file(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    add(store, ["a"])
    dead, living = (store.path / f"part-{name}.parquet.0.tmp" for name in ("dead", "living"))
    dead.write_bytes(b"PAR1 half a")
    with living.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert len(VectorStore(tmp_path, spec)) == 1
        assert living.exists() and not dead.exists()
    VectorStore(tmp_path, spec)
    assert not living.exists()


@pytest.mark.parametrize("damage", ["truncated", "empty", "not parquet", "other columns"])
def test_a_damaged_part_is_named_and_deleting_it_loses_only_its_texts(tmp_path, spec, damage):
    store = VectorStore(tmp_path, spec)
    add(store, ["a"])
    add(store, ["b"])
    part = sorted(store.path.glob("part-*.parquet"))[1]
    if damage == "other columns":
        pq.write_table(pq.read_table(part).drop_columns(["n_tokens"]), part)
    else:
        content = part.read_bytes()
        part.write_bytes({"truncated": content[: len(content) // 2], "empty": b"", "not parquet": b"x" * 999}[damage])
    with pytest.raises(StoreError, match="delete it and encode again") as error:
        VectorStore(tmp_path, spec)
    assert str(part) in str(error.value)
    part.unlink()
    assert VectorStore(tmp_path, spec).find(keys_of(["a", "b"])).tolist() == [0, -1]


def test_a_flipped_bit_in_a_vector_is_noticed_when_the_vector_is_read(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    add(store, ["a"], np.full((1, 8), 1.0))
    (part,) = store.path.glob("part-*.parquet")
    content = bytearray(part.read_bytes())
    content[content.index(np.float32(1.0).tobytes() * 8) + 5] ^= 1
    part.write_bytes(content)
    reopened = VectorStore(tmp_path, spec)
    with pytest.raises(StoreError, match=part.name):
        reopened.vectors(reopened.find(keys_of(["a"])))


def test_vectors_of_another_width_are_refused(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    add(store, ["a"])
    with pytest.raises(StoreError, match="8 numbers, not 9"):
        add(store, ["b"], np.ones((1, 9)))


def test_parts_in_memory_stay_within_the_cache_and_vectors_stay_right(tmp_path, spec):
    texts = [f"text {i}" for i in range(120)]
    add_to = VectorStore(tmp_path, spec)
    for start in range(0, 120, 10):
        add(add_to, texts[start : start + 10])
    part_bytes = 10 * 8 * 4
    store = VectorStore(tmp_path, spec, cache_bytes=3 * part_bytes)
    order = np.random.default_rng(0).permutation(120)
    for chunk in np.split(order, 12):
        asked = [texts[i] for i in chunk]
        np.testing.assert_array_equal(store.vectors(store.find(keys_of(asked))), vectors_of(asked))
        assert sum(vectors.nbytes for vectors in store._cache.values()) <= 3 * part_bytes


def test_each_way_the_vectors_were_made_is_kept_with_them(tmp_path, spec):
    add(VectorStore(tmp_path, spec), ["a"], provenance=CPU)
    add(VectorStore(tmp_path, spec), ["b"], provenance=GPU)
    store = VectorStore(tmp_path, spec)
    assert store.provenances(store.find(keys_of(["b", "a"]))) == [CPU, GPU]
    assert store.provenances(store.find(keys_of(["b"]))) == [GPU]


def test_a_revision_that_moved_to_other_weights_is_refused(tmp_path, spec):
    store = VectorStore(tmp_path, spec)
    store.require_revision("commit-2")
    add(store, ["a"])
    store.require_revision("commit-1")
    with pytest.raises(StoreError, match="revision 'main' is now commit-2"):
        store.require_revision("commit-2")
