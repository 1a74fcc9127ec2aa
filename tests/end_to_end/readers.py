"""A reader as a process of its own: `python -m tests.end_to_end.readers WAREHOUSE STOP OUTCOME [keep]`."""

import json
import sys
import time
from pathlib import Path

import duckdb

SEEN = """
    select
        (select build_id from meta.build),
        (select count(*) from marts.sessions),
        (select count(*) from marts.turns),
        (select count(*) from marts.arguments),
        (select count(*) from marts.max_prior_pairs),
        (select sum(estimate) from marts.gap_estimates),
        (select count(*) from reports.table_03)
"""


def read_until(stop: Path, warehouse: Path, outcome: Path, keep_open: bool) -> None:
    """Query the warehouse until the file `stop` is there, and write down what each look showed, or the error."""
    seen, error = [], None
    try:
        while not stop.exists():
            # With one thread a sum is the same to the last bit in every look at one build.
            with duckdb.connect(warehouse, read_only=True, config={"threads": 1}) as connection:
                seen.append(connection.sql(SEEN).fetchall()[0])
                while keep_open and not stop.exists():
                    # An open connection keeps the build that it opened, however many are published meanwhile.
                    assert connection.sql(SEEN).fetchall()[0] == seen[-1]
                    time.sleep(4)
            # Twenty readers that never pause would leave nothing for the study that they watch.
            time.sleep(4)
    except Exception as failure:
        error = repr(failure)
    outcome.write_text(json.dumps({"error": error, "seen": [list(map(str, row)) for row in seen]}))


if __name__ == "__main__":
    warehouse, stop, outcome = map(Path, sys.argv[1:4])
    read_until(stop, warehouse, outcome, keep_open="keep" in sys.argv[4:])
