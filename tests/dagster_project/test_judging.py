"""Judges by command: which pairs and debates of a warehouse they are asked about, and where their answers go."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml

from dagster_project.audit import draw_audit
from dagster_project.cli import main
from dagster_project.judging import JudgingError, debates_to_judge, high_pairs, pairs_to_judge
from ingest.archive.strict_rows import archive_rows
from tests.dashboards.synthetic_warehouse import build_warehouse
from tests.ingest.run.provider_server import ProviderServer, Reply, Seen, answer

ENCODER = "use-multilingual-v3"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_warehouse(tmp_path_factory.mktemp("judged") / "warehouse.duckdb")


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


def test_high_pairs_are_drawn_from_the_pooled_top_decile_alike_for_each_language(warehouse: Path) -> None:
    pairs = high_pairs(warehouse, ENCODER, ["en", "zh"], 5, seed=1)
    assert pairs == high_pairs(warehouse, ENCODER, ["en", "zh"], 5, seed=1)
    assert pairs != high_pairs(warehouse, ENCODER, ["en", "zh"], 5, seed=2)
    with duckdb.connect(warehouse, read_only=True) as database:
        rows = database.execute(
            "select argument_id, language, similarity from marts.max_prior_pairs where encoder = ? and field = 'claim' "
            "and similarity is not null and language in ('en', 'zh') and argument_id like '%-baseline-%'",
            [ENCODER],
        ).fetchall()
    by_id = {argument: (language, similarity) for argument, language, similarity in rows}
    ordered = sorted(similarity for _, _, similarity in rows)
    # A linear quantile, by hand.
    place = 0.9 * (len(ordered) - 1)
    low = ordered[math.floor(place)]
    edge = low + (ordered[math.ceil(place)] - low) * (place - math.floor(place))
    assert all(by_id[pair.argument_id][1] >= edge for pair in pairs)
    assert max(Counter(by_id[pair.argument_id][0] for pair in pairs).values()) <= 5


def test_pairs_are_those_of_an_audit_with_their_own_claims(warehouse: Path, tmp_path: Path) -> None:
    draw_audit(warehouse, tmp_path / "audit", ENCODER, ["en", "zh"], 2, 1, 7)
    pairs = pairs_to_judge(warehouse, tmp_path / "audit")
    tasks = json.loads((tmp_path / "audit" / "pair_tasks.json").read_text(encoding="utf-8"))
    assert {(pair.earlier_claim, pair.later_claim) for pair in pairs} == {
        (task["data"]["earlier_claim"], task["data"]["later_claim"]) for task in tasks
    }
    with pytest.raises(JudgingError, match="holds no plan of pairs"):
        pairs_to_judge(warehouse, tmp_path)


def test_debates_come_with_their_turns_in_order_and_with_the_names_to_hide(warehouse: Path) -> None:
    debates, names = debates_to_judge(warehouse, ["zh"], 3, seed=1)
    assert len(debates) == 3
    for debate in debates:
        assert len(debate.turns) == 8
        assert debate.turns[0][0] == "Pro first opening"
        assert all("-zh-" in debate.session_id for debate in debates)
    assert {"agent_a", "agent_b", "agent_c", "agent_d"} <= names.agents
    assert names.conditions == {"baseline", "diversity"}
    with pytest.raises(JudgingError, match="no analysed debate in de"):
        debates_to_judge(warehouse, ["de"], None, seed=1)


def test_the_command_asks_and_writes_a_part_and_asks_no_second_time(
    warehouse: Path, server: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "warehouse.duckdb").symlink_to(warehouse)
    monkeypatch.setenv("REPRISE_LAKE", str(lake))
    monkeypatch.setenv("PLANTED_KEY", "sk-planted-judge-77")
    provider = {"endpoint": server.url("mistral"), "key_env": "PLANTED_KEY", "max_in_flight": 4}
    agents = {
        "providers": {"mistral": provider},
        "agents": {
            "j": {"provider": "mistral", "model": "mistral/mistral-large-latest", "parameters": {"max_tokens": 1000}}
        },
    }
    (tmp_path / "agents.yaml").write_text(yaml.safe_dump(agents), encoding="utf-8")

    def reply(seen: Seen) -> Reply:
        scores = dict.fromkeys(
            ("argumentative_development", "engagement", "final_argument_quality", "overall_quality"), 7
        )
        return answer(seen, json.dumps(scores | {"brief_rationale": "Fine."}))

    server.default = reply
    command = ["judge", "outcomes", "--judge", "j", "--to", str(tmp_path / "part"), "--number", "4"]
    command += ["--agents-file", str(tmp_path / "agents.yaml"), "--records", str(tmp_path / "records")]
    assert main(command) == 0
    assert "4 of 4 judged." in capsys.readouterr().out
    assert len(server.seen) == 4
    rows = archive_rows(tmp_path / "part", "judgments")
    assert {(row["instrument"], row["judge"], row["round"]) for row in rows} == {("outcome", "j", 1)}
    assert not [seen for seen in server.seen if "agent_a" in seen.prompt or "baseline" in seen.prompt]
    assert main(command) == 0
    assert len(server.seen) == 4
    assert main([*command, "--round", "2"]) == 0
    assert len(server.seen) == 8
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sk-planted-judge-77" not in path.read_bytes()
    assert main(["judge", "functions", *command[2:]]) == 1
    assert "--encoder NAME" in capsys.readouterr().err
