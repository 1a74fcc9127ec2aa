"""The real loading and encoding code, on a tiny model with random weights."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import sentence_transformers
import torch
import transformers
from sentence_transformers.sentence_transformer import modules

from embeddings.encode import encode_arguments
from embeddings.encoders import load_specs, open_encoder
from embeddings.spec import EncoderSettingsError, EncoderSpec, EncoderUnavailable
from embeddings.store import StoreError, VectorStore

TEXTS = ["free transport helps poor people", "nuclear power takes decades to build", "fares", "free free free nuclear"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":"]
VOCABULARY += sorted({word for text in TEXTS for word in text.split()})


def save_model(directory: Path, seed: int = 0) -> Path:
    vocabulary = directory / "vocab.txt"
    directory.mkdir(parents=True)
    vocabulary.write_text("\n".join(VOCABULARY), encoding="utf-8")
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
        # Wider than usual, so that a changed word moves the vector far.
        initializer_range=0.5,
    )
    transformers.BertModel(config).save_pretrained(directory / "bert")
    transformers.BertTokenizerFast(str(vocabulary), model_max_length=64).save_pretrained(directory / "bert")
    words = modules.Transformer(str(directory / "bert"))
    pooling = modules.Pooling(32, "mean")
    model = sentence_transformers.SentenceTransformer(
        modules=[words, pooling],
        device="cpu",
        # A default prompt as some models ship it: it must not be added to the declared prefix.
        prompts={"passage": "passage : "},
        default_prompt_name="passage",
    )
    model.save(str(directory / "model"))
    return directory / "model"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return save_model(tmp_path_factory.mktemp("tiny") / "a")


@pytest.fixture
def tiny(model) -> EncoderSpec:
    return EncoderSpec(
        name="tiny",
        backend="sentence_transformers",
        model=str(model),
        revision="local",
        prefix="query : ",
        dtype="float32",
        batch_size=2,
        max_length=12,
        normalize=True,
    )


def mean_of_tokens(model: Path, text: str) -> np.ndarray:
    """The encoder written out: BERT, mean over all tokens, length 1."""
    bert = transformers.AutoModel.from_pretrained(model)
    tokens = transformers.AutoTokenizer.from_pretrained(model)(text, return_tensors="pt", truncation=False)
    with torch.inference_mode():
        vector = bert(**tokens).last_hidden_state[0].mean(dim=0).numpy()
    return vector / np.linalg.norm(vector)


def test_the_prefix_is_put_in_front_once_and_no_default_prompt_is_added(tiny, model):
    expected = [mean_of_tokens(model, "query : " + text) for text in TEXTS]
    np.testing.assert_allclose(open_encoder(tiny).encode(TEXTS), expected, atol=1e-5)


def test_an_empty_prefix_means_no_prompt_at_all(tiny, model):
    encoder = open_encoder(dataclasses.replace(tiny, prefix=""))
    np.testing.assert_allclose(encoder.encode(TEXTS[:1])[0], mean_of_tokens(model, TEXTS[0]), atol=1e-5)


def test_a_vector_does_not_depend_on_the_batch(tiny):
    encoder = open_encoder(tiny)
    whole = open_encoder(dataclasses.replace(tiny, batch_size=64)).encode(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS), whole, atol=1e-5)
    np.testing.assert_allclose(np.vstack([encoder.encode([text]) for text in TEXTS]), whole, atol=1e-5)


def test_tokens_are_counted_before_the_cut_with_prefix_and_special_tokens(tiny):
    encoder = open_encoder(tiny)
    long = "nuclear " * 40
    assert encoder.token_count(["fares", long]).tolist() == [5, 44]
    # The library cuts silently: the end of the text leaves no trace in its vector.
    cut = encoder.encode([long, "nuclear " * 30 + "fares " * 10])
    np.testing.assert_allclose(cut[0], cut[1], atol=1e-6)


def test_texts_over_the_maximum_are_marked_in_the_store_and_counted(tiny, argument, write_arguments, tmp_path):
    at_limit, over_limit = "fares " * 8, "fares " * 9
    path = write_arguments([argument("s", 1, 1, at_limit), argument("s", 1, 2, over_limit)])
    store = VectorStore(tmp_path / "vectors", tiny)
    report = encode_arguments(path, tiny, ["claim"], store)
    assert (report.texts, report.over_max_length) == (2, 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_are_loaded_in_the_declared_precision_and_vectors_come_as_float32(tiny, dtype):
    encoder = open_encoder(dataclasses.replace(tiny, dtype=dtype))
    assert next(encoder._model.parameters()).dtype == getattr(torch, dtype)
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - open_encoder(tiny).encode(TEXTS)).max() < 0.05


def test_without_normalisation_vectors_keep_their_length(tiny):
    vectors = open_encoder(dataclasses.replace(tiny, normalize=False)).encode(TEXTS)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).min() > 0.1
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, open_encoder(tiny).encode(TEXTS), atol=1e-5)


def test_what_is_recorded_names_the_libraries_the_device_and_the_weights(tiny):
    provenance = open_encoder(tiny).provenance
    assert provenance.device == "cpu" or provenance.device.startswith("cuda: ")
    assert set(provenance.library_versions) == {"sentence-transformers", "torch", "transformers", "tokenizers"}
    assert provenance.resolved_revision.startswith("sha256:")


def test_other_weights_behind_the_same_settings_are_refused(tiny, argument, write_arguments, tmp_path):
    first, second = save_model(tmp_path / "first"), save_model(tmp_path / "second", seed=1)
    spec = dataclasses.replace(tiny, model=str(first))
    store = VectorStore(tmp_path / "vectors", spec)
    encode_arguments(write_arguments([argument("s", 1, 1, "fares")]), spec, ["claim"], store)
    (second / "model.safetensors").replace(first / "model.safetensors")
    more = write_arguments([argument("s", 1, 1, "fares"), argument("s", 2, 1, "nuclear")])
    with pytest.raises(StoreError, match="declare the revision you want"):
        encode_arguments(more, spec, ["claim"], store)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"max_length": None}, "needs a max_length"),
        ({"max_length": 100}, "reads 64 tokens at most"),
        ({"dtype": "q4_0"}, "dtype is float32, float16 or bfloat16"),
        ({"revision": "main"}, "declare revision: local"),
    ],
)
def test_settings_it_would_not_follow_are_refused(tiny, change, complaint):
    with pytest.raises(EncoderSettingsError, match=complaint):
        open_encoder(dataclasses.replace(tiny, **change))


def test_without_network_or_cache_the_error_says_what_to_run(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EncoderUnavailable, match="run: hf download BAAI/bge-m3 --revision main"):
        open_encoder(load_specs()["bge-m3"])
