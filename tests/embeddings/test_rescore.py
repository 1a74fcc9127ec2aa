import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sacrebleu
import sentence_transformers
import torch
import transformers

from embeddings.encode import encode_arguments
from embeddings.pairs import MissingVectorsError, write_max_prior_pairs
from embeddings.rescore import RescoreReport, write_pair_scores
from embeddings.schemas import PAIR_SCORES
from embeddings.schemas import SCORERS as SCORERS_SCHEMA
from embeddings.scorers import SCORERS, ScorerSpec, open_scorer
from embeddings.spec import EncoderUnavailable
from embeddings.store import VectorStore

CLAIMS = ["fares deter the poor", "roads cost more", "fares keep the poor at home", "taxes are fair", "fares deter"]


@pytest.fixture
def study(tmp_path, argument, write_arguments, spec, fake_encoder):
    """Five arguments of one session in two extractors, encoded, with their nearest earlier arguments."""
    rows = [
        argument("s", turn, 1, f"{claim} {extractor}", "because", extractor)
        for extractor in ("first", "second")
        for turn, claim in enumerate(CLAIMS, start=1)
    ]
    path = write_arguments(rows)
    store = VectorStore(tmp_path / "vectors", spec)
    encode_arguments(path, spec, ["claim", "claim_warrant"], store)
    write_max_prior_pairs(path, {spec.name: store}, ["claim", "claim_warrant"], tmp_path / "pairs")
    return path, tmp_path / "pairs", {spec.name: store}


def labelled(*pairs: tuple[str, str]) -> pa.Table:
    schema = pa.schema([("argument_id", pa.string()), ("nearest_argument_id", pa.string())])
    return pa.Table.from_pylist([dict(zip(schema.names, pair, strict=True)) for pair in pairs], schema=schema)


def rescored(study, dest: Path, pairs: pa.Table, scorers=(SCORERS["chrf"],)) -> tuple[RescoreReport, list[dict]]:
    path, pairs_dir, stores = study
    report = write_pair_scores(path, pairs_dir, pairs, scorers, stores, ["claim", "claim_warrant"], dest)
    table = pq.read_table(dest / "pair_scores.parquet")
    assert table.schema == PAIR_SCORES
    return report, table.to_pylist()


def test_every_nearest_pair_and_every_labelled_pair_is_scored_once(study, tmp_path) -> None:
    report, rows = rescored(study, tmp_path / "out", labelled(("s/5/1", "s/1/1"), ("s/5/1", "s/1/1")))
    nearest = {
        (row["extractor"], row["argument_id"], row["nearest_argument_id"])
        for row in pq.read_table(next(study[1].glob("pairs-*.parquet"))).to_pylist()
        if row["field"] == "claim" and row["nearest_argument_id"]
    }
    wanted = nearest | {("first", "s/5/1", "s/1/1"), ("second", "s/5/1", "s/1/1")}
    chrf = [row for row in rows if row["scorer"] == "chrf"]
    assert {(row["extractor"], row["argument_id"], row["nearest_argument_id"]) for row in chrf} == wanted
    assert len(chrf) == len(wanted) == report.scores["chrf"]
    assert report.labelled_pairs == 2 and report.labelled_pairs_without_arguments == 0


def test_chrf_is_that_of_its_library_with_the_later_claim_as_hypothesis(study, tmp_path) -> None:
    _, rows = rescored(study, tmp_path / "out", labelled(("s/5/1", "s/1/1")))
    (row,) = [r for r in rows if r["scorer"] == "chrf" and r["extractor"] == "first" and r["argument_id"] == "s/5/1"
              and r["nearest_argument_id"] == "s/1/1"]  # fmt: skip
    later, earlier = "fares deter first", "fares deter the poor first"
    assert row["score"] == pytest.approx(sacrebleu.sentence_chrf(later, [earlier]).score / 100)
    assert row["score"] != pytest.approx(sacrebleu.sentence_chrf(earlier, [later]).score / 100)


def test_chrf_of_equal_texts_is_one_in_any_script_and_of_strangers_zero() -> None:
    scorer = open_scorer(SCORERS["chrf"])
    texts = ["票价", "الأجرة تردع الفقراء", "Проезд", "a"]
    assert scorer.score(texts, texts).tolist() == [1.0] * 4
    assert scorer.score(["票价"], ["roads"]).tolist() == [0.0]
    assert scorer.score(["公交 收费"], ["公交收费"]).tolist() == [1.0]
    assert scorer.score([], []).shape == (0,)


def test_an_encoders_score_of_a_labelled_pair_is_its_cosine_in_every_field(study, tmp_path) -> None:
    nearest = [
        row for row in pq.read_table(next(study[1].glob("pairs-*.parquet"))).to_pylist() if row["nearest_argument_id"]
    ]
    _, rows = rescored(
        study, tmp_path / "out", labelled(*((row["argument_id"], row["nearest_argument_id"]) for row in nearest))
    )
    scores = {
        (row["extractor"], row["field"], row["argument_id"], row["nearest_argument_id"]): row["score"]
        for row in rows
        if row["scorer"] == next(iter(study[2]))
    }
    assert len(nearest) == 2 * 2 * 4
    for row in nearest:
        key = (row["extractor"], row["field"], row["argument_id"], row["nearest_argument_id"])
        assert scores[key] == pytest.approx(row["similarity"], abs=1e-12)


def test_a_labelled_pair_whose_arguments_are_gone_is_counted(study, tmp_path) -> None:
    report, rows = rescored(
        study, tmp_path / "out", labelled(("s/5/1", "s/1/1"), ("s/5/1", "s/1/9"), ("t/2/1", "t/1/1"))
    )
    assert report.labelled_pairs_without_arguments == 2
    assert not any(row["nearest_argument_id"] == "s/1/9" for row in rows)


def test_a_missing_vector_of_a_labelled_pair_is_named(study, tmp_path, spec) -> None:
    path, pairs_dir, _ = study
    empty = VectorStore(tmp_path / "elsewhere", spec)
    with pytest.raises(MissingVectorsError, match="argument s/5/1 has no vector"):
        write_pair_scores(
            path, pairs_dir, labelled(("s/5/1", "s/1/1")), [], {spec.name: empty}, ["claim"], tmp_path / "out"
        )


def test_without_scorers_and_labels_the_tables_are_there_and_empty(study, tmp_path) -> None:
    report, rows = rescored(study, tmp_path / "out", labelled(), scorers=())
    assert rows == [] and report.scores == {}
    scorers = pq.read_table(tmp_path / "out" / "scorers.parquet")
    assert scorers.num_rows == 0 and scorers.schema == SCORERS_SCHEMA


def test_the_same_input_gives_the_same_bytes_and_progress_ends_at_the_total(study, tmp_path) -> None:
    path, pairs_dir, stores = study
    seen: list[tuple[int, int]] = []
    for name in ("one", "two"):
        pairs = labelled(("s/5/1", "s/1/1"), ("s/4/1", "s/2/1"))
        write_pair_scores(
            path, pairs_dir, pairs, [SCORERS["chrf"]], stores, ["claim"], tmp_path / name, lambda *n: seen.append(n)
        )
    assert seen[-1][0] == seen[-1][1]
    for file in ("pair_scores.parquet", "scorers.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory) -> ScorerSpec:
    """A tiny cross-encoder with random weights, loaded as the real one is."""
    directory = tmp_path_factory.mktemp("cross")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({w for claim in CLAIMS for w in claim.split()})]
    (directory / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=1,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(directory)
    transformers.BertTokenizerFast(str(directory / "vocab.txt"), model_max_length=64).save_pretrained(directory)
    return ScorerSpec("tiny", "cross_encoder", str(directory), "local", max_length=64, batch_size=2)


def test_a_cross_encoder_gives_the_models_logit_of_later_and_earlier(cross_encoder: ScorerSpec) -> None:
    later, earlier = CLAIMS[1:], CLAIMS[:-1]
    scores = open_scorer(cross_encoder).score(later, earlier)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(cross_encoder.model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(cross_encoder.model)
    with torch.no_grad():
        expected = [
            model.eval()(**tokenizer(one, other, return_tensors="pt")).logits.item()
            for one, other in zip(later, earlier, strict=True)
        ]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert np.unique(scores.round(4)).size == len(later)
    assert isinstance(open_scorer(cross_encoder).score([], []), np.ndarray)


def test_a_cross_encoder_scores_the_study_and_says_what_it_was(study, tmp_path, cross_encoder: ScorerSpec) -> None:
    _, rows = rescored(study, tmp_path / "out", labelled(("s/5/1", "s/1/1")), [cross_encoder, SCORERS["chrf"]])
    assert {row["scorer"] for row in rows} == {"tiny", "chrf", *study[2]}
    records = {row["scorer"]: row for row in pq.read_table(tmp_path / "out" / "scorers.parquet").to_pylist()}
    assert records["tiny"]["resolved_revision"].startswith("sha256:")
    assert dict(records["tiny"]["library_versions"])["sentence-transformers"] == sentence_transformers.__version__
    assert records["chrf"]["device"] == "cpu"


def test_a_scorer_without_its_weights_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    spec = dataclasses.replace(SCORERS["bge-reranker-v2-m3"], model="somebody/absent-reranker")
    with pytest.raises(EncoderUnavailable, match=r"hf download somebody/absent-reranker"):
        open_scorer(spec)
