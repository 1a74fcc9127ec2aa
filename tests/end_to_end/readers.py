"""What a reader of the warehouse does, in a module that a reader's process imports quickly."""

import json
import time
from multiprocessing.synchronize import Event
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


def read_until(stop: Event, warehouse: Path, keep_open: bool, outcome: Path) -> None:
    """Query the warehouse until `stop` is set, and write down what each look showed; an error is an outcome too."""
    seen, error = [], None
    try:
        while not stop.is_set():
            with duckdb.connect(warehouse, read_only=True) as connection:
                seen.append(connection.sql(SEEN).fetchall()[0])
                while keep_open and not stop.wait(0.5):
                    # An open connection keeps the build that it opened, however many are published meanwhile.
                    assert connection.sql(SEEN).fetchall()[0] == seen[-1]
            time.sleep(0.5)
    except Exception as failure:
        error = repr(failure)
    outcome.write_text(json.dumps({"error": error, "seen": [list(map(str, row)) for row in seen]}))
