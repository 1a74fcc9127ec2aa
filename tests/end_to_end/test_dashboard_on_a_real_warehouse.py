"""The pages on a warehouse that the pipeline built: the tests' made-up warehouses must not drift from the real one."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboards.conftest import APP, VIEWS
from tests.dashboards.synthetic_warehouse import build_empty_warehouse
from tests.end_to_end.conftest import Workplace

COLUMNS = """
    select table_schema, table_name, column_name, data_type from information_schema.columns
    where table_schema in ('marts', 'reports', 'meta') order by all
"""


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_shows_a_real_warehouse(small: Workplace, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    monkeypatch.setenv("REPRISE_LAKE", str(small.lake))
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    app.switch_page(f"views/{view}.py").run()
    assert not app.exception
    assert not app.error


def test_the_made_up_warehouse_has_the_columns_of_the_real_one(small: Workplace, tmp_path: Path) -> None:
    made_up = Workplace(tmp_path, "")
    made_up.lake.mkdir()
    build_empty_warehouse(made_up.warehouse)
    real = {row[:3] for row in small.query(COLUMNS)}
    assert {row[:3] for row in made_up.query(COLUMNS)} <= real
