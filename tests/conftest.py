"""What holds for every test."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def the_main_module_stays() -> Iterator[None]:
    """Streamlit makes the page that it runs the main module; whatever starts a process later would run that page."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
