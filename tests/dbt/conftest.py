from collections.abc import Iterator

import duckdb
import pytest

from tests.dbt.by_hand import ByHand
from tests.dbt.dbt_runs import Built, build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One build for all tests."""
    return build(tmp_path_factory.mktemp("dbt"))


@pytest.fixture(scope="session")
def by_hand(built: Built) -> ByHand:
    return ByHand(built.lake)


@pytest.fixture
def warehouse(built: Built) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(built.warehouse, read_only=True) as connection:
        yield connection
