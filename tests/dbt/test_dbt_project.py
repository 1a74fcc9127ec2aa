"""The project itself: what is written about it is true, its layers read in one direction, a build can be repeated."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.dbt.dbt_runs import BEFORE_ESTIMATES, PROJECT, Built

# Who may read whom (dbt/README.md).
MAY_READ = {
    "staging": {"source"},
    "intermediate": {"staging", "intermediate"},
    "marts": {"staging", "intermediate", "marts"},
    "reports": {"marts", "published", "reports"},
}


def layer(built: Built, node_id: str) -> str:
    return "source" if node_id.startswith("source.") else built.manifest["nodes"][node_id]["fqn"][1]


def described(node: dict[str, Any]) -> dict[str, str]:
    return {name: column["description"] for name, column in node["columns"].items()}


def test_each_layer_reads_only_the_layers_it_may(built: Built) -> None:
    for model in built.models(*MAY_READ):
        parents = {layer(built, parent) for parent in model["depends_on"]["nodes"]}
        assert parents <= MAY_READ[model["fqn"][1]], model["name"]


def test_a_staging_model_reads_one_source_table_and_is_named_after_it(built: Built) -> None:
    for model in built.models("staging"):
        (parent,) = model["depends_on"]["nodes"]
        source = built.manifest["sources"][parent]
        assert model["name"] == f"stg_{source['source_name']}__{source['name']}"


def test_every_model_and_seed_states_its_grain_and_describes_its_columns(built: Built) -> None:
    nodes = [node for node in built.manifest["nodes"].values() if node["resource_type"] in ("model", "seed")]
    for node in nodes:
        assert "One row per " in node["description"], node["name"]
        assert node["columns"], node["name"]
        assert all(text.strip() for text in described(node).values()), node["name"]


def test_documented_columns_are_the_real_ones_and_in_their_order(built: Built) -> None:
    with duckdb.connect() as both:
        for name, path in (("warehouse", built.warehouse), ("scratch", built.scratch)):
            both.execute(f"attach '{str(path).replace(chr(39), chr(39) * 2)}' as {name} (read_only)")
        for node in built.manifest["nodes"].values():
            if node["resource_type"] in ("model", "seed"):
                relation = f"{node['database']}.{node['schema']}.{node['alias']}"
                assert both.sql(f"from {relation}").columns == list(node["columns"]), relation


def test_meanings_are_comments_in_the_database(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    comments = {
        (schema, table, column): comment
        for schema, table, column, comment in warehouse.sql(
            """
            select schema_name, table_name, column_name, comment from duckdb_columns() where not internal
            union all
            select schema_name, table_name, '', comment from duckdb_tables()
            union all
            select schema_name, view_name, '', comment from duckdb_views() where not internal
            """
        ).fetchall()
    }
    published = [node for node in built.manifest["nodes"].values() if node["schema"] in ("marts", "reports")]
    nodes = [node for node in published if node["resource_type"] in ("model", "seed")]
    for node in nodes:
        for column, text in {"": node["description"], **described(node)}.items():
            assert comments.pop((node["schema"], node["alias"], column)) == text
    assert not comments


def test_marts_have_enforced_contracts_and_a_tested_grain(built: Built) -> None:
    tested = {
        node["attached_node"]
        for node in built.manifest["nodes"].values()
        if node.get("test_metadata", {}).get("name") == "unique_grain"
    }
    for mart in built.models("marts"):
        assert mart["config"]["contract"]["enforced"], mart["name"]
        assert all(column["data_type"] for column in mart["columns"].values()), mart["name"]
        assert mart["unique_id"] in tested, mart["name"]
    for report in built.models("reports"):
        assert report["unique_id"] in tested, report["name"]


def test_schemas_are_named_as_people_type_them(built: Built) -> None:
    assert {(node["database"], node["schema"]) for node in built.models(*MAY_READ)} == {
        ("scratch", "staging"), ("scratch", "intermediate"), ("warehouse", "marts"), ("warehouse", "reports"),
    }  # fmt: skip


def test_the_second_step_is_what_descends_from_the_estimates(built: Built) -> None:
    children = built.manifest["child_map"]
    waiting = [source for source in built.manifest["sources"] if source.startswith("source.reprise.estimates.")]
    estimates = {source.rsplit(".", 1)[1] for source in waiting}
    found = set()
    while waiting:
        node = waiting.pop()
        found.add(node)
        waiting += [child for child in children.get(node, []) if child not in found]
    names = {built.manifest["nodes"][node]["name"] for node in found if node.startswith("model.")}
    reports = {model["name"] for model in built.models("reports")}
    assert names - reports == estimates | {f"stg_estimates__{name}" for name in estimates}
    # What rests on no estimate is built in the first step: counts.
    assert reports - names == {"table_19", "table_23", "table_32"}
    assert "test.reprise.assert_estimates_cover_every_contrast" in found


def test_every_source_names_the_asset_that_writes_it(built: Built) -> None:
    keys: dict[str, list[str]] = {}
    for source in built.manifest["sources"].values():
        (key,) = source["meta"]["dagster"]["asset_key"]
        if source["source_name"] == "estimates":
            # One asset writes each table of estimates, under the table's name.
            assert key == source["name"]
        else:
            assert keys.setdefault(source["source_name"], [key]) == [key]
    assert keys == {
        "study": ["study"],
        "archive": ["archive"],
        "argument_units": ["argument_units"],
        "max_prior_pairs": ["max_prior_pairs"],
        "null_maxima": ["null_maxima"],
        "judgments": ["judgments"],
        "pair_scores": ["pair_scores"],
        "ledger": ["ledger"],
    }


def test_every_report_and_mart_appears_in_a_dashboard(built: Built) -> None:
    shown = {parent for exposure in built.manifest["exposures"].values() for parent in exposure["depends_on"]["nodes"]}
    assert shown == {model["unique_id"] for model in built.models("marts", "reports")}


@pytest.mark.parametrize("file", sorted((PROJECT / "tests").glob("*.sql")), ids=lambda file: file.stem)
def test_a_singular_test_says_what_why_and_what_it_returns(file: Path) -> None:
    header = file.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    assert len(header) == 3
    assert re.fullmatch(r"-- [A-Z].*\.", header[0])
    assert header[1].startswith("-- Why: ")
    assert header[2].startswith("-- Returns: ")


def test_the_seeds_are_the_published_files_with_every_value(warehouse: duckdb.DuckDBPyConnection) -> None:
    values = warehouse.sql("select count(*), count(value), count(estimate) from reports.published_values").fetchall()
    lines = (PROJECT / "seeds/published/prior_argument_similarity.csv").read_text(encoding="utf-8").splitlines()
    assert values[0][0] == values[0][1] == len(lines) - 1
    signed = warehouse.sql(
        """select value from reports.published_values where "table" = '4' and "row" = 'bge-m3'"""
    ).fetchall()
    assert signed == [("+0.047",)]


def test_a_build_can_be_repeated_and_gives_the_same_bits(built: Built) -> None:
    before = content(built)
    built.dbt("run", *BEFORE_ESTIMATES)
    assert content(built) == before


def test_the_documentation_site_builds_offline(built: Built) -> None:
    built.dbt("docs", "generate", "--static")
    site = (built.dbt.target / "static_index.html").read_text(encoding="utf-8")
    assert "mean_arg_max_prev" in site
    assert "one forest plot per encoder" in site


def content(built: Built) -> dict[str, tuple]:
    """Count and hash of the rows of every mart and report; floating-point numbers count to the last bit."""
    with duckdb.connect(built.warehouse, read_only=True) as warehouse:
        return {
            f"{model['schema']}.{model['alias']}": warehouse.sql(
                f"select count(*), sum(hash(row_)::hugeint) from {model['schema']}.{model['alias']} as row_"
            ).fetchall()[0]
            for model in built.models("marts", "reports")
        }


VIEWS = sorted((PROJECT.parent / "dashboards" / "views").glob("*.py"))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.stem)
def test_the_exposure_of_a_page_names_every_relation_that_its_queries_read(built: Built, view: Path) -> None:
    queries = view.parents[1] / "queries"
    named = re.findall(r'"([a-z_]+)"', view.read_text(encoding="utf-8"))
    files = [queries / f"{name}.sql" for name in named]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    read = {relation for text in texts for relation in re.findall(r"\b(?:marts|reports)\.([a-z_0-9]+)", text)}
    (exposure,) = [one for one in built.manifest["exposures"].values() if one["name"] == f"{view.stem}_page"]
    assert read <= {node.split(".")[-1] for node in exposure["depends_on"]["nodes"]}
