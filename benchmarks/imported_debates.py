"""Times foreign debates from their files to a published warehouse, with the offline encoders.

Run from the project root: ``python -m benchmarks.imported_debates [DEBATES]``. Prints a Markdown table; all figures are
from one run. Memory is the largest resident set of any process that the commands start. Linux only.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "sample"
DEBATES, TURNS, CLAIMS = 900, 9, 27
SIDES = ("pro", "con")
SEED = 7


def sample_halves() -> dict[str, list[tuple[str, str]]]:
    """The sample's claims by language, each cut in two."""
    languages = {}
    for line in (SAMPLE / "sessions.jsonl").read_text(encoding="utf-8").splitlines():
        session = json.loads(line)
        languages[session["session_id"]] = session["language"]
    halves: dict[str, list[tuple[str, str]]] = {}
    for line in (SAMPLE / "extractions.jsonl").read_text(encoding="utf-8").splitlines():
        extraction = json.loads(line)
        try:
            units = json.loads(extraction["raw_response"])["arguments"]
        except (ValueError, KeyError):
            # An answer of the sample that is broken on purpose.
            continue
        for unit in units:
            middle = len(unit["claim"]) // 2
            cut = (unit["claim"][:middle], unit["claim"][middle:])
            halves.setdefault(languages[extraction["session_id"]], []).append(cut)
    return halves


def write_debates(folder: Path, n_debates: int) -> int:
    """One file a debate, in the shape of the mapping turn_logs; returns how many distinct claims they hold."""
    draw = random.Random(SEED)
    halves = sample_halves()
    languages = sorted(halves)
    distinct = set()
    for number in range(n_debates):
        language = languages[number % len(languages)]
        logs = []
        for turn in range(1, TURNS + 1):
            claims = [
                draw.choice(halves[language])[0] + draw.choice(halves[language])[1] for _ in range(CLAIMS // TURNS)
            ]
            distinct |= set(claims)
            logs.append(
                {
                    "turn": turn,
                    "side": SIDES[turn % 2],
                    "agent": f"agent_{turn % 3}",
                    "speech": " ".join(claims),
                    "extraction": {"claims": [{"claim": claim} for claim in claims]},
                }
            )
        debate = {
            "session_id": f"D{number:04}",
            "motion_id": f"M{number // len(languages):03}",
            "motion": f"This house would take measure number {number // len(languages)}.",
            "language": language,
            "turn_logs": logs,
        }
        (folder / f"{number:04}.json").write_text(json.dumps(debate, ensure_ascii=False), encoding="utf-8")
    return len(distinct)


def timed(*arguments: str) -> float:
    """Seconds that a command of Reprise takes; its output is shown as it comes."""
    start = time.perf_counter()
    subprocess.run([str(Path(sys.executable).with_name("reprise")), *arguments], check=True, stdout=sys.stderr)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("debates", type=int, nargs="?", default=DEBATES)
    n_debates = parser.parse_args().debates
    with tempfile.TemporaryDirectory() as home:
        source, study = Path(home, "debates"), Path(home, "study")
        source.mkdir()
        n_distinct = write_debates(source, n_debates)
        imported = timed("import", "turn_logs", str(source), "--name", "bench", "--into", str(study))
        run = timed("--study", str(study / "study.yaml"), "run")
        again = timed("--study", str(study / "study.yaml"), "run")
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"\n{n_debates:,} debates, {n_debates * TURNS:,} turns, {n_debates * CLAIMS:,} claims ({n_distinct:,} distinct)"
    )
    print(f"in {len(sample_halves())} languages, {os.cpu_count()} cores.\n")
    print("| | |\n|---|---:|")
    print(f"| import | {imported:.0f} s |\n| first run | {run:.0f} s |\n| run again, nothing changed | {again:.0f} s |")
    print(f"| largest process | {megabytes:,.0f} MB |")


if __name__ == "__main__":
    main()
