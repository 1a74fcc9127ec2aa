"""Study files: what is read, and what a person is told about a file that cannot be used."""

from pathlib import Path

import pytest

from dagster_project.study import STUDIES, Study, StudyError, load_study, study_table

ENCODERS = ["multilingual-e5-small", "use-multilingual-v3", "bge-m3", "multilingual-e5-large", "labse"]
SCORERS = ["chrf", "bge-reranker-v2-m3"]
LANGUAGES = ["en", "ar", "es", "fr", "ru", "zh"]


def load(named: str | None = None) -> Study:
    return load_study(named, known_encoders=ENCODERS, known_languages=LANGUAGES, known_scorers=SCORERS)


@pytest.fixture(autouse=True)
def _no_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("REPRISE_STUDY", "REPRISE_ARCHIVE"):
        monkeypatch.delenv(variable, raising=False)


def written(tmp_path: Path, text: str) -> str:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    return str(file)


def test_every_shipped_study_can_be_loaded() -> None:
    assert {load(file.stem).name for file in STUDIES.glob("*.yaml")} >= {"sample", "paper"}


def test_the_sample_study_reads_the_sample_archive() -> None:
    assert (load().archive / "sessions.jsonl").is_file()


def test_a_study_elsewhere_finds_its_archive_beside_itself(tmp_path: Path) -> None:
    study = load(written(tmp_path, "name: mine\narchive: debates\nencoders: [use-multilingual-v3]\n"))
    assert study.archive == tmp_path / "debates"


def test_the_environment_can_replace_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRISE_ARCHIVE", str(tmp_path))
    assert load().archive == tmp_path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: mine\nencoders: [use-multilingual-v3]\n", "archive"),
        ("name: mine\narchive: a\nencoders: [use-v4]\n", "encoders names use-v4"),
        ("name: mine\narchive: a\nencoders: []\n", "encoders"),
        ("name: mine\narchive: a\nencoders: [labse]\nlanguages: [en, tlh]\n", "languages names tlh"),
        (
            "name: mine\narchive: a\nencoders: [labse]\nlanguages: [zh]\n",
            "reference_language 'en' is not among languages",
        ),
        ("name: mine\narchive: a\nencoders: [labse, labse]\n", "labse more than once"),
        ("name: mine\narchive: a\nencoders: [labse]\nfields: [warrant]\n", "fields"),
        ("name: mine\narchive: a\nencoders: [labse]\nfeilds: [claim]\n", "feilds"),
        ("name: mine\narchive: a\nencoders: [labse]\nestimator: {n_resamples: 10}\n", "n_resamples"),
        ("name: 'Mine!'\narchive: a\nencoders: [labse]\n", "name"),
        ("- just\n- a list\n", "study"),
        ("name: [unclosed\n", "not readable YAML"),
    ],
)
def test_an_unusable_study_names_its_file_and_setting(tmp_path: Path, text: str, told: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(StudyError) as refusal:
        load(file)
    assert file in str(refusal.value)
    assert told in str(refusal.value)


def test_an_unknown_study_names_the_shipped_ones() -> None:
    with pytest.raises(StudyError, match="Shipped studies: paper, sample"):
        load("smaple")


def test_the_study_table_carries_every_setting_but_places_on_disk() -> None:
    row = study_table(load()).to_pylist()[0]
    assert row["name"] == "sample"
    assert row["archive"] == "sample"
    assert row["encoders"] == ["multilingual-e5-small", "use-multilingual-v3"]
    assert row["languages"] is None
    assert row["n_resamples"] == 5000
    assert set(Study.model_fields) - {"lake", "imports", "estimator", "generation"} < set(row)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: 2026-13-45\n", "is not readable YAML: month must be in"),
        ('name: nul\narchive: "a\\0b"\nencoders: [labse]\n', "archive .* is no path that can be followed"),
        (
            "name: home\narchive: ~nobody-of-this-name/x\nencoders: [labse]\n",
            "archive .* is no path that can be followed",
        ),
    ],
)
def test_a_value_that_cannot_be_read_is_told_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(StudyError, match=rf"mine\.yaml.*{words}"):
        load(written(tmp_path, text))


def test_an_archive_in_the_home_folder_is_found_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    study = load(written(tmp_path, "name: home\narchive: ~/debates\nlake: ~/lake\nencoders: [labse]\n"))
    assert (study.archive, study.lake) == (tmp_path / "debates", tmp_path / "lake")


@pytest.mark.parametrize("named", ["~nobody-of-this-name/mine.yaml", "a\0b.yaml"])
def test_a_study_at_no_path_is_refused_by_name(named: str) -> None:
    with pytest.raises(StudyError, match=r"is no path that can be followed"):
        load(named)


def test_debates_come_from_an_archive_or_an_import_and_an_import_lies_in_the_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPRISE_LAKE", raising=False)
    file = tmp_path / "study.yaml"
    importing = "name: x\nencoders: [toy]\nlake: lake\nimport: {mapping: m.yaml, source: there}\n"
    file.write_text(importing.replace("toy", next(iter(ENCODERS))), encoding="utf-8")
    study = load(str(file))
    assert study.archive == tmp_path / "lake" / "imported_archive" / "current"
    assert study.imports is not None
    assert (study.imports.mapping, study.imports.source) == (str(tmp_path / "m.yaml"), tmp_path / "there")
    file.write_text(file.read_text(encoding="utf-8") + "archive: here\n", encoding="utf-8")
    with pytest.raises(StudyError, match="give either archive or import"):
        load(str(file))
