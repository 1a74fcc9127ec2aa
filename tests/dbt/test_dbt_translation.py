"""Translated and round-trip sessions: what the four contrasts compare, and Table 18 made of them."""

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from dagster_project.estimators.contrasts import estimate_contrasts
from tests.dbt.dbt_runs import Built
from tests.dbt.test_dbt_diagnostics import STUDY, run_model, sessions

TRANSLATED, ROUND_TRIP = "baseline translated from zh", "baseline round trip through zh"
# Means over turns of (condition, language) by motion, one repeat each.
VALUES = {
    ("baseline", "en"): {"M1": 0.60, "M2": 0.50, "M3": 0.40},
    ("baseline", "zh"): {"M1": 0.70, "M2": 0.58, "M3": 0.49},
    (TRANSLATED, "en"): {"M1": 0.63, "M2": 0.51, "M3": 0.45},
    (ROUND_TRIP, "en"): {"M1": 0.58, "M2": 0.52},
}
EXPECTED = {
    ("native_gap", "baseline", None): {"M1": 0.10, "M2": 0.08},
    ("translated_gap", TRANSLATED, "baseline"): {"M1": 0.03, "M2": 0.01},
    ("translated_round_trip_gap", TRANSLATED, ROUND_TRIP): {"M1": 0.05, "M2": -0.01},
    ("round_trip_effect", ROUND_TRIP, "baseline"): {"M1": -0.02, "M2": 0.02},
}


def debates() -> pd.DataFrame:
    every = [
        sessions(list(by_motion), (language,), (condition,)) for (condition, language), by_motion in VALUES.items()
    ]
    # A second repeat of one arm is averaged before anything is compared.
    return pd.concat([*every, sessions(["M1"], ("en",), ("baseline",), repeats=2)]).drop_duplicates("session_id")


def similarity(encoder: str = "bge-m3") -> pd.DataFrame:
    rows = []
    for row in debates().itertuples():
        mean = VALUES[row.condition, row.language][row.motion_id]
        if (row.motion_id, row.language, row.condition) == ("M1", "en", "baseline"):
            mean += 0.04 if row.repeat == 1 else -0.04
        place = row._asdict() | {"extractor": "x", "encoder": encoder, "field": "claim", "variant": "raw"}
        place |= {"turn_mean": mean, "agent_mean": mean + 0.1, "n_scoreable_turns": 7, "n_scoreable_agents": 4}
        rows.append({name: value for name, value in place.items() if name not in ("Index", "in_analysis")})
    return pd.DataFrame(rows)


def contrasts(built: Built) -> pd.DataFrame:
    tables = {"study": STUDY, "sessions": debates(), "session_similarity": similarity()}
    return run_model(built, "translation_contrasts", tables)


def test_four_contrasts_are_about_the_motions_that_have_all_four_debates(built: Built) -> None:
    found = contrasts(built)
    rows: dict[tuple[str, str, str | None], dict[str, float]] = {}
    for row in found[found["aggregate"] == "turn_mean"].itertuples():
        reference = None if pd.isna(row.reference_condition) else row.reference_condition
        rows.setdefault((row.contrast, row.condition, reference), {})[row.motion_id] = row.difference
    assert rows == {contrast: pytest.approx(by_motion) for contrast, by_motion in EXPECTED.items()}
    assert set(found["language"]) == {"zh"}
    assert set(found["reference_language"]) == {"en"}
    assert len(found) == 2 * 4 * 2


def test_sessions_that_are_left_out_of_the_analysis_are_in_no_contrast(built: Built) -> None:
    left_out = debates()
    left_out.loc[(left_out["motion_id"] == "M2") & (left_out["condition"] == ROUND_TRIP), "in_analysis"] = False
    tables = {"study": STUDY, "sessions": left_out, "session_similarity": similarity()}
    assert set(run_model(built, "translation_contrasts", tables)["motion_id"]) == {"M1"}


def test_a_translated_session_is_no_prompt_that_every_motion_must_be_debated_under(built: Built) -> None:
    tables = {
        "study": STUDY,
        "sessions": pd.concat([debates(), sessions(["M1", "M2", "M3"], ("en", "zh"), ("diversity",))]),
        "motions": pd.DataFrame({"motion_id": ["M1"], "language": ["zh"], "qa_flagged": [None]}).astype(
            {"qa_flagged": "boolean"}
        ),
        "language_gaps": pd.DataFrame(
            {"motion_id": ["M1"], "language": ["zh"], "condition": ["baseline"], "extractor": ["x"],
             "encoder": ["first"], "field": ["claim"], "variant": ["raw"], "gap": [0.1]}
        ),
    }  # fmt: skip
    sets = run_model(built, "motion_sets", tables)
    assert set(sets[sets["motion_set"] == "ablation_zh"]["motion_id"]) == {"M1", "M2", "M3"}


def test_the_report_shows_our_contrasts_beside_those_of_the_paper(built: Built) -> None:
    estimates = estimate_contrasts(
        pa.Table.from_pandas(contrasts(built), preserve_index=False), 200, seed=1, confidence=0.95, min_clusters=20
    ).to_pandas()
    (path,) = (built.dbt.target / "compiled").glob("*/models/reports/table_18.sql")
    with duckdb.connect(built.warehouse, read_only=True) as warehouse:
        tables = {
            "marts.study": STUDY,
            "marts.translation_estimates": estimates,
            "reports.published_values": warehouse.sql("from reports.published_values").df(),
            "reports.published_labels": warehouse.sql("from reports.published_labels").df(),
        }
    with duckdb.connect() as database:
        database.execute("create schema marts; create schema reports")
        for name, frame in tables.items():
            database.register("given", frame)
            database.execute(f"create table {name} as from given")
            database.unregister("given")
        report = database.sql(path.read_text(encoding="utf-8")).df().set_index(["encoder", "comparison"]).sort_index()
    of_bge = report.loc["bge-m3"]
    assert of_bge["estimate"].round(6).to_dict() == {
        "native_gap": 0.09, "translated_gap": 0.02, "translated_round_trip_gap": 0.02, "round_trip_effect": 0.0,
    }  # fmt: skip
    assert of_bge["published_estimate"].to_dict() == {
        "native_gap": 0.0472, "translated_gap": 0.0085, "translated_round_trip_gap": 0.014,
        "round_trip_effect": -0.0055,
    }  # fmt: skip
    assert of_bge["missing"].isna().all()
    others = report.drop("bge-m3")
    assert others["published_estimate"].to_dict() == {
        ("multilingual-e5-large", "translated_round_trip_gap"): 0.0033,
        ("labse", "translated_round_trip_gap"): 0.0151,
    }
    assert others["missing"].str.contains("Translate and rescore").all()
