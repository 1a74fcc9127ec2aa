"""The examples of docs/running-a-study.md."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/running-a-study.md").read_text(encoding="utf-8"), re.DOTALL)


def test_every_name_that_an_example_imports_exists() -> None:
    assert len(EXAMPLES) == 1
    for example in EXAMPLES:
        for node in ast.parse(example).body:
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(str(node.module))
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
