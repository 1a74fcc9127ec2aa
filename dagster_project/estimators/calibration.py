"""From labelled pairs to rates of repetition in a population [paper 4.3, F.8, Tables 26, 28 and 29].

Weighted rates let the labelled pairs speak for the strata they were drawn from. Calibrated rates let them say only how
often pairs of a similarity bin are repeated, pooled over languages, and take from the whole population how many pairs
of each language lie in each bin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.alignment import REPEATED, STRICT
from dagster_project.estimators.bootstrap import resample_counts
from dagster_project.estimators.grouped import Rows, groups
from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Settings,
    estimated,
    item_counts,
    weighted_means,
)

N_BINS = 5
COLLAPSES = {"repeated": REPEATED, "strict": STRICT}

_NO_LABEL = "Nobody labelled a pair of this bin."
_NO_PAIR = "A resample holds no pair of the language."

CALIBRATION_SCHEMA = pa.schema(
    [
        pa.field("quantity", pa.string(), nullable=False),
        pa.field("collapse", pa.string()),
        pa.field("condition", pa.string(), nullable=False),
        pa.field("extractor", pa.string()),
        pa.field("encoder", pa.string()),
        pa.field("field", pa.string()),
        pa.field("bin", pa.int32()),
        pa.field("bin_low", pa.float64()),
        pa.field("bin_high", pa.float64()),
        pa.field("language", pa.string()),
        pa.field("reference_language", pa.string()),
        pa.field("n_labelled", pa.int64(), nullable=False),
        pa.field("n_pairs", pa.int64()),
        *INTERVAL_FIELDS,
    ]
)

EXTRACTION_AUDIT_SCHEMA = pa.schema(
    [
        pa.field("dimension", pa.string(), nullable=False),
        pa.field("condition", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("reference_language", pa.string()),
        pa.field("n_turns", pa.int64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)


@dataclass(frozen=True, eq=False)
class CalibratedReplicates:
    """Human rates of the bins, shares of the population and the rates that follow, the estimates first.

    ``bin_rate`` has shape (1 + n_resamples, n_bins), ``share`` (1 + n_resamples, n_languages, n_bins) and ``rate``
    (1 + n_resamples, n_languages). NaN in a bin without a labelled pair, in a language without a pair in the resample,
    and in every rate that needs either.
    """

    bin_rate: NDArray[np.float64]
    share: NDArray[np.float64]
    rate: NDArray[np.float64]


def calibrated_rates(
    labels_in_bin: NDArray[np.int64], population: NDArray[np.int64], lowest: int, n_resamples: int, seed: int
) -> CalibratedReplicates:
    """Σ over bins of (pooled human rate in the bin) × (the language's population share of the bin).

    ``labels_in_bin`` (n_bins, n_labels) counts the labelled pairs of each bin by label, all languages together; a pair
    counts as repeated when its label is at least ``lowest``. ``population`` (n_languages, n_motions, n_bins) counts the
    pairs of the population. Each replicate draws motions with replacement, which moves the shares, and labelled pairs
    with replacement within each bin, which moves the rates; bin edges stay. Draws come from
    ``np.random.default_rng(seed)``, motions first, and do not depend on ``lowest``.

    A language that has no pair in a bin does not need the bin's rate. Source: section 4.3 and F.8 of the paper.
    """
    n_motions = population.shape[1]
    rng = np.random.default_rng(seed)
    motions = np.vstack([np.ones((1, n_motions), dtype=np.int64), resample_counts(n_motions, n_resamples, rng)])
    n_labelled = labels_in_bin.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.stack(
            [
                rng.multinomial(n, labels / n if n else _first(len(labels)), size=n_resamples)
                for n, labels in zip(n_labelled, labels_in_bin, strict=True)
            ],
            axis=1,
        )
        labels = np.concatenate([labels_in_bin[np.newaxis], drawn])
        bin_rate = labels[:, :, lowest:].sum(axis=2) / n_labelled
        pairs = np.einsum("rm,lmb->rlb", motions, population)
        share = pairs / pairs.sum(axis=2, keepdims=True)
    needed = np.where(share == 0, 0.0, share * bin_rate[:, np.newaxis, :])
    return CalibratedReplicates(bin_rate, share, needed.sum(axis=2))


def calibration_table(labels: pa.Table, pairs: pa.Table, reference_language: str, settings: Settings) -> pa.Table:
    """Weighted rates of the labelled pairs and calibrated rates of the population, in ``CALIBRATION_SCHEMA``.

    ``labels`` has one row per labelled pair: motion_id, language, condition, label and weight (NULL counts as 1).
    ``pairs`` has one row per pair of the population and encoder: condition, extractor, encoder, field, motion_id,
    language, bin (1 to 5), bin_low, bin_high and label (NULL where nobody labelled the pair).

    The quantities are weighted_rate (per language and as a difference from ``reference_language``), human_rate (per
    bin, languages pooled: the calibration curve), population_share (per language and bin) and calibrated_rate (per
    language and as a difference). Differences have ``reference_language`` set. What cannot be computed keeps its row,
    with its reason in ``interval_note``.
    """
    rows: list[dict[str, object]] = []
    for condition, members in groups(labels, ["condition"]):
        for collapse, lowest in COLLAPSES.items():
            positive = np.asarray(members["label"], dtype=np.float64) >= lowest
            for found in _language_means(positive.astype(np.float64), members, reference_language, settings):
                rows.append(condition | {"quantity": "weighted_rate", "collapse": collapse} | found)
    for population, members in groups(pairs, ["condition", "extractor", "encoder", "field"]):
        rows += [population | row for row in _calibrated(members, reference_language, settings)]
    return pa.Table.from_pylist(rows, schema=CALIBRATION_SCHEMA)


def extraction_audit_table(audits: pa.Table, reference_language: str, settings: Settings) -> pa.Table:
    """Means of the extraction audit by language, and their differences from ``reference_language`` [paper F.7].

    ``audits`` has one row per audited turn and dimension: dimension, condition, language, motion_id, value and weight
    (NULL counts as 1). Returns ``EXTRACTION_AUDIT_SCHEMA``.
    """
    rows = []
    for named, members in groups(audits, ["dimension", "condition"]):
        values = np.asarray(members["value"], dtype=np.float64)
        for found in _language_means(values, members, reference_language, settings):
            rows.append(named | {"n_turns": found.pop("n_labelled")} | found)
    return pa.Table.from_pylist(rows, schema=EXTRACTION_AUDIT_SCHEMA)


def _language_means(
    values: NDArray[np.float64], rows: Rows, reference_language: str, settings: Settings
) -> Iterator[dict[str, object]]:
    """Weighted means by language and their differences from the reference, motions resampled for all together."""
    weights = np.array([1.0 if weight is None else weight for weight in rows["weight"]])
    language = np.asarray(rows["language"], dtype=object)
    motions = np.asarray(rows["motion_id"], dtype=object)
    counts, _ = item_counts(motions, settings)
    replicates, n_items = {}, {}
    for code in sorted(set(rows["language"])):
        there = language == code
        n_items[code] = int(there.sum())
        replicates[code] = weighted_means(values[there], weights[there], counts[:, there])
        n_motions = len(set(motions[there]))
        found = estimated(replicates[code], n_motions, settings, f"No labelled item in {code}.")
        yield {"language": code, "n_labelled": n_items[code]} | found.columns(settings)
    yield from _differences(replicates, n_items, set(motions), reference_language, settings)


def _differences(
    replicates: Mapping[str, NDArray[np.float64]],
    n_items: Mapping[str, int],
    motions: set[str],
    reference_language: str,
    settings: Settings,
) -> Iterator[dict[str, object]]:
    if reference_language not in replicates:
        return
    for code in sorted(set(replicates) - {reference_language}):
        difference = replicates[code] - replicates[reference_language]
        found = estimated(difference, len(motions), settings, f"{code} or {reference_language} has no rate.")
        yield {
            "language": code,
            "reference_language": reference_language,
            "n_labelled": n_items[code] + n_items[reference_language],
        } | found.columns(settings)


@dataclass(frozen=True, eq=False)
class _Population:
    """One encoder's and field's pairs, counted."""

    languages: list[str]
    n_pairs: NDArray[np.int64]
    labels_in_bin: NDArray[np.int64]
    edges: Mapping[int, tuple[float | None, float | None]]

    @classmethod
    def of(cls, rows: Rows) -> "_Population":
        languages, of_language = np.unique(np.asarray(rows["language"], dtype=object), return_inverse=True)
        motions, of_motion = np.unique(np.asarray(rows["motion_id"], dtype=object), return_inverse=True)
        of_bin = np.asarray(rows["bin"], dtype=np.int64) - 1
        n_pairs = np.zeros((len(languages), len(motions), N_BINS), dtype=np.int64)
        np.add.at(n_pairs, (of_language, of_motion, of_bin), 1)
        labels_in_bin = np.zeros((N_BINS, STRICT + 1), dtype=np.int64)
        for number, label in zip(of_bin, rows["label"], strict=True):
            if label is not None:
                labels_in_bin[number, label] += 1
        bounds = zip(of_bin.tolist(), rows["bin_low"], rows["bin_high"], strict=True)
        return cls(languages.tolist(), n_pairs, labels_in_bin, {number: (low, high) for number, low, high in bounds})

    @property
    def n_motions(self) -> int:
        return self.n_pairs.shape[1]

    @property
    def n_labelled(self) -> NDArray[np.int64]:
        return self.labels_in_bin.sum(axis=1)

    def bin(self, number: int) -> dict[str, object]:
        low, high = self.edges.get(number, (None, None))
        return {"bin": number + 1, "bin_low": low, "bin_high": high}


def _calibrated(rows: Rows, reference_language: str, settings: Settings) -> Iterator[dict[str, object]]:
    """Everything about one encoder and field."""
    population = _Population.of(rows)
    for collapse, lowest in COLLAPSES.items():
        replicates = calibrated_rates(
            population.labels_in_bin, population.n_pairs, lowest, settings.n_resamples, settings.seed
        )
        if collapse == "repeated":
            yield from _shares(population, replicates, settings)
        yield from ({"collapse": collapse} | row for row in _curve(population, replicates, settings))
        yield from (
            {"collapse": collapse} | row for row in _rates(population, replicates, reference_language, settings)
        )


def _shares(
    population: _Population, replicates: CalibratedReplicates, settings: Settings
) -> Iterator[dict[str, object]]:
    """How the pairs of each language spread over the bins."""
    for place, code in enumerate(population.languages):
        for number in range(N_BINS):
            share = replicates.share[:, place, number]
            found = estimated(share, population.n_motions, settings, _NO_PAIR)
            yield {
                "quantity": "population_share",
                "language": code,
                **population.bin(number),
                "n_labelled": 0,
                "n_pairs": int(population.n_pairs[place, :, number].sum()),
            } | found.columns(settings)


def _curve(
    population: _Population, replicates: CalibratedReplicates, settings: Settings
) -> Iterator[dict[str, object]]:
    """How often people call the pairs of a bin repeated, all languages together."""
    # The interval of a bin's rate resamples its pairs; the number of motions has no part in it.
    of_pairs = replace(settings, min_clusters=0)
    for number, n_labelled in enumerate(population.n_labelled.tolist()):
        found = estimated(replicates.bin_rate[:, number], population.n_motions, of_pairs, _NO_LABEL)
        yield {
            "quantity": "human_rate",
            **population.bin(number),
            "n_labelled": n_labelled,
            "n_pairs": int(population.n_pairs[:, :, number].sum()),
        } | found.columns(settings)


def _rates(
    population: _Population, replicates: CalibratedReplicates, reference_language: str, settings: Settings
) -> Iterator[dict[str, object]]:
    """The calibrated rate of each language, and its difference from the reference language."""
    n_labelled = int(population.n_labelled.sum())
    unlabelled = ", ".join(str(number + 1) for number in np.flatnonzero(population.n_labelled == 0))
    undefined = f"Nobody labelled a pair of bin {unlabelled}." if unlabelled else _NO_PAIR
    rates = dict(zip(population.languages, replicates.rate.T, strict=True))
    n_pairs = dict(zip(population.languages, population.n_pairs.sum(axis=(1, 2)).tolist(), strict=True))

    def row(values: NDArray[np.float64], n: int, **languages: str) -> dict[str, object]:
        found = estimated(values, population.n_motions, settings, undefined)
        return {"quantity": "calibrated_rate", **languages, "n_labelled": n_labelled, "n_pairs": n} | found.columns(
            settings
        )

    for code, rate in rates.items():
        yield row(rate, n_pairs[code], language=code)
    for code in population.languages:
        if reference_language in rates and code != reference_language:
            yield row(
                rates[code] - rates[reference_language],
                n_pairs[code] + n_pairs[reference_language],
                language=code,
                reference_language=reference_language,
            )


def _first(n: int) -> NDArray[np.float64]:
    """A distribution on the first of ``n`` values; a multinomial of no trials still wants one."""
    return np.eye(n)[0]
