"""The study report: what ran on which data, every table and figure, and the limits of what may be concluded.

Reads the published warehouse alone; the same warehouse gives the same bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import vl_convert

from dashboards import published, text
from dashboards.document import Document, Picture, Section, Table, as_html, as_markdown
from dashboards.export import to_csv
from dashboards.figures import Figure, figures
from dashboards.study import Study, load_study
from dashboards.warehouse import Ask, Snapshot, asker

PNG_SCALE = 2
FIGURES = "figures"
# All tables at once: a page for looking things up.
_NOT_TABLES = ("comparison",)


@dataclass(frozen=True)
class Written:
    """The files of a report: the page, its Markdown, and the figures (SVG, PNG and a CSV for each answer behind)."""

    html: Path
    markdown: Path
    figures: tuple[Path, ...]


def write_report(warehouse: Path, directory: Path) -> Written:
    """Writes report.html, report.md and figures/ into `directory`. Raises WarehouseError for what is no warehouse."""
    ask = asker(Snapshot(warehouse.resolve(), str(warehouse)))
    study = load_study(ask)
    drawn = figures(ask, study) if ask("session_count").column("sessions")[0] else []
    pictures, files = [], []
    for figure in drawn:
        svg = vl_convert.vegalite_to_svg(figure.chart.to_json())
        pictures.append(Picture(figure.name, svg, figure.title, figure.caption))
        files += _write_figure(figure, svg, directory / FIGURES)
    document = report(ask, study, pictures)
    html, markdown = directory / "report.html", directory / "report.md"
    html.write_text(as_html(document), encoding="utf-8")
    markdown.write_text(as_markdown(document, FIGURES), encoding="utf-8")
    return Written(html, markdown, tuple(files))


def _write_figure(figure: Figure, svg: str, directory: Path) -> Iterator[Path]:
    directory.mkdir(exist_ok=True)
    files: dict[str, bytes] = {
        ".svg": svg.encode(),
        ".png": vl_convert.vegalite_to_png(figure.chart.to_json(), scale=PNG_SCALE),
    }
    for place, answer in enumerate(figure.answers, start=1):
        content, _ = to_csv(answer)
        files[f"_{place}.csv" if len(figure.answers) > 1 else ".csv"] = content
    for ending, content in files.items():
        path = directory / f"{figure.name}{ending}"
        path.write_bytes(content)
        yield path


def report(ask: Ask, study: Study, pictures: list[Picture]) -> Document:
    """The document of a warehouse, with the figures that were drawn of it."""
    build = ask("build").first() or {}
    moment = build.get("published_at")
    return Document(
        f"Study report: {study.name}",
        [
            f"Build {build.get('build_id')} of archive {build.get('archive_digest')}, published "
            f"{moment:%Y-%m-%d %H:%M %Z}."
            if moment
            else "The warehouse does not say when it was built.",
            f"Reprise {build.get('reprise_version')}, DuckDB {build.get('duckdb_version')}, dbt "
            f"{build.get('dbt_version')}. Prior-argument similarity says how close a turn's arguments are to earlier "
            "ones of the same debate; it is a process signal and no verdict.",
        ],
        [
            Section("What may and may not be concluded", limits(ask, study)),
            Section("What ran", _what_ran(ask)),
            Section("What was analysed, and what was left out", _completeness(ask)),
            *([Section("Figures", pictures)] if pictures else []),
            *_tables(ask),
        ],
    )


def limits(ask: Ask, study: Study) -> list[str]:
    """Sentences about this study's data that bound what its numbers say, strongest first."""
    measure = {"condition": study.baseline_condition, "field": "claim", "variant": "raw", "aggregate": "agent_mean"}
    gaps = ask("language_gaps", extractor=study.extractors[0], **measure).records() if study.extractors else []
    found = [
        "Similarity is not repetition: a rebuttal, a refinement and a quotation are close to what they answer too. A "
        "gap describes models, prompts, languages and an encoder together; it ranks neither languages nor people, and "
        "it is no cause.",
    ]
    estimated = [gap for gap in gaps if gap["estimate"] is not None]
    motions = {gap["n_motions"] for gap in estimated}
    if not estimated:
        found.append("No language gap can be estimated here: there is no motion debated in two languages.")
    elif min(motions) < study.min_clusters:
        found.append(
            f"The intervals rest on {min(motions)} motion{'s' * (min(motions) != 1)}, fewer than {study.min_clusters}: "
            "they are indicative only, and with so few clusters they are more often too narrow than their level says."
        )
    by_language: dict[str, list[float]] = {}
    for gap in estimated:
        by_language.setdefault(gap["language"], []).append(gap["estimate"])
    agreeing = [code for code, values in by_language.items() if len({value > 0 for value in values}) == 1]
    changing = [code for code in by_language if code not in agreeing]
    if len(study.encoders) == 1:
        found.append(
            f"One encoder, {study.encoders[0]}, measured everything. Encoders disagree about levels and even about "
            "signs: a gap that only one encoder has seen may be a property of the encoder."
        )
    elif estimated:
        found.append(
            "Under all encoders the gap has one sign for "
            f"{_listed(study, agreeing) or 'no language'}"
            + (
                f"; it changes sign between encoders for {_listed(study, changing)}, so nothing is said about these."
                if changing
                else "."
            )
        )
    labels = ask("report_labels").records()
    if labels:
        told = ", ".join(
            f"{study.language(row['language']).name} {row['pairs']:,} pairs, {row['share_repeated']:.0%} repeated"
            for row in labels
        )
        found.append(
            f"Annotators labelled pairs: {told}. In other languages nobody has checked what a high similarity means; "
            "where they have, tables 2 and 27 to 29 say how well it tells a repeated claim."
        )
    else:
        found.append("No annotator has labelled pairs of this study: what a high similarity means in it is not known.")
    judges = ask("report_judges").records()
    for judge in judges:
        found.append(
            f"The judge {judge['judge']} uses {judge['n_distinct_scores']} values of ten for "
            f"{text.label(judge['dimension']).replace('_', ' ')} and gives its highest, {judge['ceiling']}, to "
            f"{judge['ceiling_share']:.0%} of {judge['sessions']:,} sessions: differences above it are not seen."
        )
    if not judges:
        found.append("No judge has scored these debates: whether similarity goes with their quality is not known.")
    failures = sum(row["turns"] for row in ask("overview_extraction_failures").records())
    if failures:
        turns = ask("overview_counts").first()["turns"]
        found.append(
            f"{failures:,} answers of extractors, for {turns:,} turns, hold no argument units. These turns have no "
            "similarity; a language with more of them is measured on other turns."
        )
    return found


def _listed(study: Study, codes: list[str]) -> str:
    return ", ".join(study.language(code).name for code in codes)


def _what_ran(ask: Ask) -> list[str | Table]:
    row = ask("study").first() or {}
    settings = [
        {"setting": name.replace("_", " "), "value": ", ".join(value) if isinstance(value, list) else text.plain(value)}
        for name, value in row.items()
        if value is not None
    ]
    encoders = ask("report_encoders")
    blocks: list[str | Table] = [
        Table({"setting": "Setting", "value": "Value"}, settings),
        Table(
            {name: name.replace("_", " ").capitalize() for name in encoders.columns},
            encoders.records(),
            numbers=("dimension", "max_length", "n_texts", "n_over_max_length"),
            note="n over max length: texts longer than the encoder reads; their ends are not in their vectors.",
        ),
    ]
    calls = ask("runs_totals").first()
    if calls["answered"]:
        cost = "unknown" if calls["cost_usd"] is None else f"{calls['cost_usd']:,.2f} US dollars"
        blocks.append(
            f"The debates were made here: {calls['answered']:,} calls were answered and {calls['failed']:,} failed, "
            f"{calls['input_tokens'] or 0:,} tokens in, {calls['output_tokens'] or 0:,} out; cost {cost}"
            + (f", {calls['unpriced']:,} calls not counted whose cost is unknown." if calls["unpriced"] else ".")
        )
    return blocks


def _completeness(ask: Ask) -> list[str | Table]:
    counts = ask("overview_counts").first()
    sessions = ask("overview_sessions")
    blocks: list[str | Table] = [
        f"{counts['motions']:,} motions, {counts['sessions']:,} sessions ({counts['sessions_in_analysis']:,} of them "
        f"in the analysis), {counts['turns']:,} turns, {counts['arguments']:,} arguments, {counts['pairs']:,} pairs "
        f"with their nearest earlier argument; {counts['extraction_failures']:,} answers of extractors and "
        f"{counts['rejects']:,} records could not be used.",
        Table(
            {
                "language": "Language",
                "condition": "Condition",
                "motions": "Motions",
                "sessions": "Sessions",
                "in_analysis": "In the analysis",
                "turns": "Turns",
                "arguments": "Arguments",
                "arguments_per_turn": "Arguments per turn",
            },
            [row | {"arguments_per_turn": text.fixed(row["arguments_per_turn"], 2)} for row in sessions.records()],
            numbers=("motions", "sessions", "in_analysis", "turns", "arguments", "arguments_per_turn"),
        ),
    ]
    for name, columns, numbers in (
        (
            "overview_exclusions",
            {"status": "Status", "n_turns": "Turns", "sessions": "Sessions left out"},
            ("n_turns", "sessions"),
        ),
        (
            "overview_extraction_failures",
            {"extractor": "Extractor", "reason": "Reason", "language": "Language", "turns": "Answers without units"},
            ("turns",),
        ),
        (
            "overview_rejects",
            {"table_name": "Table", "reason": "Reason", "records": "Rejected records", "example": "For example"},
            ("records",),
        ),
    ):
        answer = ask(name)
        if answer.rows:
            blocks.append(Table(columns, answer.records(), numbers=numbers))
    return blocks


def _tables(ask: Ask) -> Iterator[Section]:
    """Each table of the paper as far as this study fills it; then what the others need."""
    needed = []
    for view in ask("reports").records():
        if view["name"] in _NOT_TABLES:
            continue
        answer = ask("report", report=f"reports.{view['name']}")
        title = published.TITLES.get(view["name"], view["name"])
        records = [row for row in answer.records() if row.get("missing") is None]
        if not records:
            reasons = dict.fromkeys(row["missing"] for row in answer.records() if row.get("missing"))
            needed.append({"table": title, "needs": " ".join(reasons) or "Rows of this study."})
            continue
        columns = published.headings([column for column in answer.columns if column != "missing"])
        notes = dict.fromkeys(row["interval_note"] for row in records if row.get("interval_note"))
        yield Section(
            title,
            [
                *([view["comment"]] if view["comment"] else []),
                Table(
                    columns,
                    published.presented(records),
                    numbers=[name for name in columns if name in published.HEADINGS],
                    note=" ".join(notes) or None,
                ),
            ],
        )
    if needed:
        yield Section(
            "Tables that this study does not fill", [Table({"table": "Table", "needs": "What would fill it"}, needed)]
        )
