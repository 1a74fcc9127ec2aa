"""The published per-turn scores as files for other tools."""

from pathlib import Path

import duckdb

FORMATS = {"csv": "format csv, header", "parquet": "format parquet, compression zstd"}


def export_turn_scores(warehouse: Path, folder: Path) -> dict[Path, int]:
    """Writes `marts.turn_similarity` as turn_scores.csv and turn_scores.parquet; returns the files and their rows.

    One row per turn, extractor, encoder, field and variant, with NULL (an empty cell) and its reason where a turn has
    no score. A file appears in one step or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    with duckdb.connect(warehouse, read_only=True) as connection:
        scores = "from marts.turn_similarity order by session_id, turn_index, extractor, encoder, field, variant"
        for suffix, options in FORMATS.items():
            file = folder / f"turn_scores.{suffix}"
            draft = folder / f".{file.name}"
            place = str(draft).replace("'", "''")
            (rows,) = connection.execute(f"copy ({scores}) to '{place}' ({options})").fetchall()[0]
            draft.replace(file)
            written[file] = rows
    return written
