"""The README's questions, asked of the sample study: the answers it prints must be the answers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT, Workplace

README = (ROOT / "README.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"```sql\n([^`]+)```\n\n((?:\|[^\n]+\n)+)", README)


def test_the_readme_asks_five_questions() -> None:
    assert len(QUESTIONS) == 5


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_a_question_of_the_readme_has_the_answer_it_prints(sample: Workplace, question: str, answer: str) -> None:
    prompt = Path(sys.executable).with_name("duckdb")
    done = subprocess.run(
        [prompt, "-readonly", "-markdown", sample.warehouse, question], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == answer.strip()


def test_the_prompt_of_make_sql_can_read_every_published_relation(sample: Workplace) -> None:
    prompt = Path(sys.executable).with_name("duckdb")
    relations = sample.query("select table_schema || '.' || table_name from information_schema.tables order by all")
    assert len(relations) > 25
    questions = "".join(f"select count(*) from {relation};" for (relation,) in relations)
    subprocess.run([prompt, "-readonly", "-bail", sample.warehouse, questions], capture_output=True, check=True)


def test_every_file_the_readme_links_to_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", README) if not link.startswith("http")]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", README)) <= targets
