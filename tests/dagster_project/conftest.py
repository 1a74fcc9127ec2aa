import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _a_lake_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Definitions are read once per process and name a lake: these tests must not touch the project's own."""
    lake = tmp_path_factory.mktemp("lake")
    os.environ["REPRISE_LAKE"] = str(lake)
    return lake
