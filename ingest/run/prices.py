"""What calls cost, from the dated price table beside this module. An unknown price is None, never 0."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ingest.errors import IngestError
from ingest.run.agents import PriceOverride
from ingest.run.call import Usage

TABLE = Path(__file__).with_name("prices.yaml")
_MILLION = Decimal(1_000_000)
_PRICES = {"input", "output", "cached_input", "cache_write"}


class PriceTableError(IngestError):
    """The price table cannot be used. `str()` names the file, the model and the remedy."""


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. None for `cached_input` means the input price, for `cache_write` unknown.

    For calls of more than `up_to_input_tokens` the price is unknown.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    up_to_input_tokens: int | None = None


@dataclass(frozen=True)
class PriceTable:
    """Prices by LiteLLM model string, as they were on a day."""

    as_of: datetime.date
    source: str
    prices: dict[str, Price]


@cache
def load_prices(path: Path = TABLE) -> PriceTable:
    """The price table of a file. Raises PriceTableError."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PriceTableError(f"{path} cannot be read ({error.strerror}).") from error
    except yaml.YAMLError as error:
        raise PriceTableError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict) or set(document) != {"as_of", "source", "models"}:
        raise PriceTableError(f"{path} must have as_of, source and models, and nothing else.")
    if not isinstance(document["as_of"], datetime.date):
        raise PriceTableError(f"{path}: as_of is {document['as_of']!r}; write the day of the prices as YYYY-MM-DD.")
    if not isinstance(document["models"], dict):
        raise PriceTableError(f"{path}: models must map model strings to prices.")
    models = document["models"].items()
    return PriceTable(
        document["as_of"], str(document["source"]), {model: _price(path, model, entry) for model, entry in models}
    )


def price_of(model: str, override: PriceOverride | None = None, table: PriceTable | None = None) -> Price | None:
    """The price of a model, None when it is unknown. An agent's own price goes before the table's."""
    if override is not None:
        return Price(override.input, override.output, override.cached_input)
    return (table or load_prices()).prices.get(model)


def cost_of(model: str, usage: Usage, override: PriceOverride | None = None) -> Decimal | None:
    """The cost of a call in US dollars; None when the price or the number of tokens is unknown."""
    price = price_of(model, override)
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if price.up_to_input_tokens is not None and usage.input_tokens > price.up_to_input_tokens:
        return None
    read, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    if written and price.cache_write is None:
        return None
    cached_input = price.input if price.cached_input is None else price.cached_input
    total = (
        (usage.input_tokens - read - written) * price.input
        + read * cached_input
        + written * (price.cache_write or 0)
        + usage.output_tokens * price.output
    )
    return total / _MILLION


def worst_case_cost(
    model: str, prompt_tokens: int, max_output_tokens: int, override: PriceOverride | None = None
) -> Decimal | None:
    """The most that a call of that size can cost in US dollars; None when its price is unknown."""
    price = price_of(model, override)
    if price is None or (price.up_to_input_tokens is not None and prompt_tokens > price.up_to_input_tokens):
        return None
    dearest_input = max(price.input, price.cached_input or 0, price.cache_write or 0)
    return (prompt_tokens * dearest_input + max_output_tokens * price.output) / _MILLION


def _price(path: Path, model: str, entry: Any) -> Price:
    where = f"{path}: {model}"
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys():
        raise PriceTableError(f"{where} needs input and output, in US dollars per million tokens.")
    if unknown := sorted(entry.keys() - _PRICES - {"up_to_input_tokens"}):
        raise PriceTableError(f"{where} has the unknown setting {', '.join(unknown)}.")
    try:
        amounts = {name: Decimal(str(amount)) for name, amount in entry.items() if name in _PRICES}
    except InvalidOperation:
        raise PriceTableError(f"{where} has a price that is not a number.") from None
    if any(not amount.is_finite() or amount < 0 for amount in amounts.values()):
        raise PriceTableError(f"{where} has a price below 0 or without a value.")
    limit = entry.get("up_to_input_tokens")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise PriceTableError(f"{where}: up_to_input_tokens is {limit!r}; write a whole number of at least 1.")
    return Price(**amounts, up_to_input_tokens=limit)
