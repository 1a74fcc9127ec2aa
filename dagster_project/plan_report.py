"""A plan as a person reads it before money is spent: calls, tokens and costs as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from dagster_project.planning import Plan
from ingest.run.estimate import PlannedCalls, Total, total
from ingest.run.prices import load_prices

_UNKNOWN = "unknown"
_HEADER = ("calls", "input tokens", "output tokens", "cost in USD")


def plan_report(plan: Plan, phases: Sequence[str] | None = None) -> str:
    """Calls, tokens and costs of the study's phases, or of the named ones, ready to print."""
    planned = [calls for name in phases or plan.generation.phases for calls in plan.calls(name)]
    prices = load_prices()
    untranslated = plan.untranslated()
    notes = [
        "Calls are exact, attempts that fail not counted. Tokens and costs are estimates from typical lengths; what a "
        "model reasons before it answers is billed as output and comes on top.",
        f"Prices are those of {prices.as_of} ({prices.source}); compare them with your providers' pages.",
    ]
    if untranslated:
        notes.append(
            f"{len(untranslated)} motion texts are not translated yet ({', '.join(untranslated[:3])}, …); they count "
            "with the length of the original."
        )
    return "\n\n".join(
        [
            f"Plan of study '{plan.study.name}': {len(plan.motions)} motions, prompts '{plan.pack.name}' "
            f"({plan.pack.digest[:12]}).",
            _table(
                ("phase", "stage", "provider", "agent", *_HEADER),
                [(one.phase, one.stage, one.provider, one.agent, *_cells(total([one]))) for one in planned],
            ),
            _table(
                ("provider", "stage", *_HEADER),
                [(*key, *_cells(total(group))) for key, group in _by_provider_and_stage(planned).items()],
                ("all", "", *_cells(total(planned))),
            ),
            "\n".join(notes),
        ]
    )


def told_cost(sum_: Total) -> str:
    """A cost in words that never makes an unknown one look like nothing."""
    if sum_.n_unpriced == 0:
        return _amount(sum_.known_cost)
    return _UNKNOWN if sum_.n_unpriced == sum_.n_calls else f"at least {_amount(sum_.known_cost)}"


def _amount(cost: Decimal) -> str:
    return "below 0.01" if 0 < cost < Decimal("0.005") else f"{cost:,.2f}"


def _by_provider_and_stage(planned: Iterable[PlannedCalls]) -> dict[tuple[str, str], list[PlannedCalls]]:
    groups: dict[tuple[str, str], list[PlannedCalls]] = {}
    for one in planned:
        groups.setdefault((one.provider, one.stage), []).append(one)
    return dict(sorted(groups.items()))


def _cells(sum_: Total) -> tuple[str, ...]:
    # Zero tokens are those of a provider that does not count in tokens.
    tokens = (f"{n:,}" if n else "–" for n in (sum_.input_tokens, sum_.output_tokens))
    return f"{sum_.n_calls:,}", *tokens, told_cost(sum_)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], last: Sequence[str] | None = None) -> str:
    every = [header, *rows, *([last] if last else [])]
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    n_names = len(header) - len(_HEADER)
    lines = [
        "  ".join(
            cell.ljust(width) if column < n_names else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in every
    ]
    rule = "  ".join("─" * width for width in widths)
    lines.insert(1, rule)
    if last:
        lines.insert(len(lines) - 1, rule)
    return "\n".join(lines)
