"""A study's plan: what each phase takes, and what is locked before the first call."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from dagster_project.assets.generation import assets_of
from dagster_project.plan_report import plan_report, told_cost
from dagster_project.planning import Plan, plan_of
from dagster_project.study import STUDIES, Study, StudyError, load_study
from embeddings.scorers import SCORERS
from ingest.run.estimate import Total, total
from ingest.run.lock import LockError
from ingest.run.plan import PlanError, planned_continuations, planned_sessions
from ingest.translate import GoogleTranslator, read_motion_records, translate_motions
from tests.ingest.fake_caller import FakeCaller

LANGUAGES = ["en", "ar", "es", "fr", "ru", "zh"]


def study(tmp_path: Path, **generation: Any) -> Study:
    """The paper's study over 71 made-up motions of its own, with what `generation` changes."""
    document = yaml.safe_load((STUDIES / "paper.yaml").read_text())
    document["generation"] |= {"motions": "motions.jsonl", "records": "records"} | generation
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return load_study(
        str(tmp_path / "mine.yaml"),
        known_encoders=document["encoders"],
        known_languages=LANGUAGES,
        known_scorers=SCORERS,
    )


def write_motions(tmp_path: Path, languages: list[str] = LANGUAGES, n: int = 71) -> None:
    records = [
        {"motion_id": f"M{index:03d}", "texts": {one: f"Motion {index} in the language {one}." for one in languages}}
        for index in range(1, n + 1)
    ]
    (tmp_path / "motions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.delenv("REPRISE_ARCHIVE", raising=False)
    write_motions(tmp_path)
    return plan_of(study(tmp_path))


def test_a_study_has_the_paid_assets_that_its_phases_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPRISE_ARCHIVE", raising=False)
    write_motions(tmp_path)
    whole = assets_of(study(tmp_path))
    assert [asset.key.to_user_string() for asset in whole] == ["motion_translations", "debates", "extractions"]
    (debates,) = whole[1].specs
    assert [dep.asset_key.to_user_string() for dep in debates.deps] == ["motion_translations"]
    bare = assets_of(study(tmp_path, phases={"baseline": {"conditions": ["baseline"]}}, extractors=[]))
    assert [asset.key.to_user_string() for asset in bare] == ["debates"]


def test_the_papers_phases_have_the_sessions_that_the_paper_reports(plan: Plan) -> None:
    sessions = {name: planned_sessions(plan.grid(name)) for name in list(plan.generation.phases)[1:5]}
    assert {name: len(found) for name, found in sessions.items()} == {
        "baseline": 426,
        "diversity": 426,
        "repeat_stability": 80,
        "prompt_ablation": 240,
    }
    every = [session.session_id for found in sessions.values() for session in found]
    assert len(set(every)) == len(every)
    assert {one.motion_id for one in sessions["repeat_stability"]} == {
        one.motion_id for one in sessions["prompt_ablation"]
    }
    mappings = {(one.motion_id, tuple(one.role_mapping.items())) for found in sessions.values() for one in found}
    assert len(mappings) == 71


def test_decoding_continues_the_baseline_under_seven_settings_for_the_agents_that_expose_them(plan: Plan) -> None:
    planned = planned_continuations(plan.grid("decoding"))
    assert len(planned) == 10 * 2 * 2 * 7
    assert {one.agent for one in planned} == {"deepseek", "mistral"}
    baseline = {one.session_id for one in planned_sessions(plan.grid("baseline"))}
    assert {one.context.session_id for one in planned} <= baseline
    assert sorted({str(dict(one.parameters)) for one in planned}) == sorted(
        [
            *(f"{{'temperature': {value}}}" for value in (0.2, 0.7, 1.0)),
            *(f"{{'top_p': {p}}}" for p in (0.7, 0.85, 0.95, 1.0)),
        ]
    )


def test_the_calls_of_a_phase_are_those_of_its_grid(plan: Plan) -> None:
    calls = {name: {(one.stage, one.agent): one.n_calls for one in plan.calls(name)} for name in plan.generation.phases}
    assert calls["baseline"] == {
        **{("debate", agent): 852 for agent in ("gpt-5.5", "claude", "deepseek", "mistral")},
        ("extraction", "llama-4-scout"): 3408,
    }
    assert sum(calls["prompt_ablation"].values()) == 240 * 8 * 2
    assert calls["translation"] == {("back_translation", "deepseek"): 355, ("adequacy", "llama-4-scout"): 355}
    assert calls["second_extractor"] == {("extraction", "deepseek-chat"): 30 * 2 * 8}
    assert calls["decoding"] == {
        ("debate", "deepseek"): 140,
        ("debate", "mistral"): 140,
        ("extraction", "llama-4-scout"): 280,
    }


def test_motions_without_translations_can_be_planned_and_not_locked(tmp_path: Path) -> None:
    write_motions(tmp_path, ["en"])
    plan = plan_of(study(tmp_path))
    assert {(one.provider, one.stage, one.n_calls) for one in plan.calls("translation")} == {
        ("google", "translation", 355),
        ("deepseek", "back_translation", 355),
        ("vllm", "adequacy", 355),
    }
    assert total(plan.calls("baseline")).n_calls == 2 * 3408
    assert len(plan.untranslated()) == 355
    assert "355 motion texts are not translated yet (M001/ar, " in plan_report(plan)
    with pytest.raises(PlanError, match="355 motion texts that do not exist"):
        plan.lock("baseline")


def test_the_report_sums_by_provider_and_stage_and_says_what_it_does_not_know(plan: Plan) -> None:
    report = plan_report(plan)
    rows = {tuple(line.split()[:2]): line.split() for line in report.splitlines() if line and line[0].isalpha()}
    every = [one for name in plan.generation.phases for one in plan.calls(name)]
    assert rows["vllm", "extraction"][-1] == "unknown"
    openai = total(one for one in every if one.provider == "openai")
    assert rows["openai", "debate"][2:] == [
        f"{openai.n_calls:,}",
        f"{openai.input_tokens:,}",
        f"{openai.output_tokens:,}",
        f"{openai.known_cost:,.2f}",
    ]
    last = next(line for line in report.splitlines() if line.startswith("all "))
    assert last.endswith(f"at least {total(every).known_cost:,.2f}")
    assert last.split()[1] == f"{total(every).n_calls:,}"
    assert "Prices are those of 20" in report


@pytest.mark.parametrize(
    ("sum_", "told"),
    [
        (Total(2, 1, 1, Decimal("1.234"), 0), "1.23"),
        (Total(2, 1, 1, Decimal("0.001"), 0), "below 0.01"),
        (Total(2, 1, 1, Decimal("0"), 0), "0.00"),
        (Total(2, 1, 1, Decimal("1.234"), 1), "at least 1.23"),
        (Total(2, 1, 1, Decimal("0"), 2), "unknown"),
    ],
)
def test_an_unknown_cost_never_looks_like_nothing(sum_: Total, told: str) -> None:
    assert told_cost(sum_) == told


def test_locked_roles_are_kept_when_motions_are_added(tmp_path: Path, plan: Plan) -> None:
    before = {one.motion_id: one.role_mapping for one in planned_sessions(plan.lock("baseline"))}
    write_motions(tmp_path, n=80)
    longer = plan_of(study(tmp_path))
    assert {motion: longer.role_mappings[motion] for motion in before} == before
    with pytest.raises(LockError, match=r"54 added \(M072-"):
        longer.lock("baseline")
    assert len(planned_sessions(longer.grid("diversity"))) == 80 * 6


def test_locking_all_leaves_one_lock_a_phase_of_speeches_and_no_change_the_second_time(plan: Plan) -> None:
    names = [grid.phase for grid in plan.lock_all()]
    assert names == ["baseline", "diversity", "repeat_stability", "prompt_ablation", "decoding"]
    files = {file.name: file.read_bytes() for file in plan.locks.iterdir()}
    assert set(files) == {f"{name}.lock.json" for name in names}
    plan_of(plan.study).lock_all()
    assert {file.name: file.read_bytes() for file in plan.locks.iterdir()} == files


def test_a_second_extraction_takes_apart_the_debates_of_its_phase(plan: Plan) -> None:
    sessions = plan.sessions_of("second_extractor")
    assert len(sessions) == 60
    assert {session.condition for session in sessions} == {"baseline"}


@pytest.mark.parametrize(
    ("generation", "told"),
    [
        (
            {"phases": {"x": {"kind": "decoding", "of": "y", "agents": ["a"], "top_p": [1]}}},
            "'x' is of 'y', which is no",
        ),
        ({"phases": {"x": {"kind": "debate", "conditions": ["baseline"]}}}, "debates"),
        ({"phases": {"x": {"conditions": []}}}, "conditions"),
        ({"phases": {"x": {"conditions": ["baseline"], "repeats": [0]}}}, "repeats"),
        ({"phases": {"x": {"conditions": ["baseline"], "language": ["en"]}}}, "language"),
        ({"phases": {}}, "phases"),
        (
            {
                "phases": {
                    "b": {"conditions": ["baseline"]},
                    "x": {"kind": "decoding", "of": "b", "agents": ["mistral"]},
                }
            },
            "neither temperature nor top_p",
        ),
    ],
)
def test_an_unusable_generation_names_its_setting(tmp_path: Path, generation: dict[str, Any], told: str) -> None:
    with pytest.raises(StudyError, match=told):
        study(tmp_path, **generation)


def test_what_cannot_be_planned_is_told_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"There is no motions file .*motions\.jsonl"):
        _ = plan_of(study(tmp_path)).motions
    write_motions(tmp_path)
    with pytest.raises(StudyError, match=r"no phase 'base'\. It has translation, baseline"):
        plan_of(study(tmp_path)).calls("base")
    with pytest.raises(StudyError, match=r"No agent is called 'scout'\. Declared: gpt-5.5"):
        plan_of(study(tmp_path, extractors=["scout"])).calls("baseline")
    sample = load_study(
        "sample",
        known_encoders=["multilingual-e5-small", "use-multilingual-v3"],
        known_languages=LANGUAGES,
        known_scorers=SCORERS,
    )
    with pytest.raises(StudyError, match="no section 'generation'"):
        plan_of(sample)


def test_a_phase_names_its_translator_and_a_file_is_found_beside_the_study(tmp_path: Path) -> None:
    phase = {"kind": "translation", "languages": ["fr"], "back_translator": "deepseek", "judge": "llama-4-scout"}
    phases = {name: {**phase, "translator": name} for name in ("google", "ready.csv", "mistral")}
    phases = {name.removesuffix(".csv"): translation for name, translation in phases.items()}
    write_motions(tmp_path, ["en"], n=2)
    (tmp_path / "ready.csv").write_text("motion_id,language,text\nM001,fr,Un.\n")
    plan = plan_of(study(tmp_path, phases=phases))
    caller = FakeCaller(lambda _: '{"translation": "Motion."}')
    assert isinstance(plan.translator("google", caller), GoogleTranslator)
    texts = {
        name: translate_motions(read_motion_records(plan.generation.motions), ["fr"], plan.translator(name, caller))[0]
        for name in ("ready", "mistral")
    }
    assert [record["texts"].get("fr") for record in texts["ready"]] == ["Un.", None]
    assert [record["texts"].get("fr") for record in texts["mistral"]] == ["Motion.", "Motion."]
    assert {one.agent.name for one in caller.asked} == {"mistral"}
    assert {one.stage: one.n_calls for one in plan.calls("ready")} == {"back_translation": 2, "adequacy": 2}
    assert {one.stage: one.n_calls for one in plan.calls("mistral")} == {
        "translation": 2,
        "back_translation": 2,
        "adequacy": 2,
    }


def reprise(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("reprise")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_shows_a_plan_and_writes_nothing_until_it_is_asked_to_lock(tmp_path: Path) -> None:
    write_motions(tmp_path, n=30)
    study(tmp_path)
    file = str(tmp_path / "mine.yaml")
    shown = reprise("--study", file, "plan", "--phase", "baseline")
    assert shown.returncode == 0
    assert "1,440" in shown.stdout
    assert "diversity" not in shown.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"mine.yaml", "motions.jsonl"}
    locked = reprise("--study", file, "plan", "--phase", "baseline", "--lock")
    assert "Locked: phase baseline, 180 items" in locked.stdout
    write_motions(tmp_path, n=31)
    changed = reprise("--study", file, "plan", "--phase", "baseline", "--lock")
    assert changed.returncode == 1
    assert "its grid has changed: 6 added (M031-ar-baseline-r1" in changed.stderr
