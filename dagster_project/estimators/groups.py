"""From the mart ``group_similarity`` to the table ``group_gaps``: each group of an attribute against a reference group.

A group is the turns that have one value of an attribute: a model, a persona, an order of speaking. By default motions
are the clusters, and a gap is the mean over motions of the difference within the motion, as for languages [paper 3.6].
Where there is one motion, or motions cannot be paired, debates can be the clusters: a gap is then the difference of
the groups' means over debates, and debates are resampled whole, with whatever groups they have.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pyarrow as pa

from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Estimate,
    Settings,
    estimated,
    item_counts,
    no_estimate,
    weighted_means,
)

Cluster = Literal["motion", "session"]

_MEASURE = ("extractor", "encoder", "field", "variant")
GROUP_GAPS_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("attribute", "value", "reference_value", *_MEASURE)),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("group_mean", pa.float64()),
        pa.field("reference_mean", pa.float64()),
        *(field.with_name("n_clusters") if field.name == "n_motions" else field for field in INTERVAL_FIELDS),
    ]
)

_UNPAIRED = (
    "No motion has both groups. With `cluster: session` in the study, the debate is the cluster and the groups' means "
    "over debates are compared."
)
_ONE_MOTION = "With `cluster: session` in the study, the debate is the cluster."
_EMPTY_GROUP = "one of the groups has no debate in them."


def group_gaps_table(
    group_similarity: pa.Table, references: Mapping[str, str | None], cluster: Cluster, settings: Settings
) -> pa.Table:
    """One row per attribute, group, extractor, encoder, field and variant in ``GROUP_GAPS_SCHEMA``.

    ``group_similarity`` has one row per session, attribute, value and measure with ``motion_id`` and ``similarity``
    (rows without one are left out). ``references`` gives each attribute its reference group; None is the group with
    the most debates, the first by name among equals.
    """
    measures: defaultdict[tuple[str, ...], list[dict[str, object]]] = defaultdict(list)
    for row in group_similarity.to_pylist():
        if row["similarity"] is not None:
            measures[tuple(row[name] for name in ("attribute", *_MEASURE))].append(row)
    rows = []
    for (attribute, *measure), values in sorted(measures.items()):
        reference = references.get(attribute) or _largest(values)
        for group in sorted({str(row["value"]) for row in values} - {reference}):
            means, estimate = _gap(values, group, reference, cluster, settings)
            columns = estimate.columns(settings)
            rows.append(
                {
                    "attribute": attribute,
                    "value": group,
                    "reference_value": reference,
                    **dict(zip(_MEASURE, measure, strict=True)),
                    "cluster": cluster,
                    "group_mean": means[0],
                    "reference_mean": means[1],
                    "n_clusters": columns.pop("n_motions"),
                    **columns,
                }
            )
    return pa.Table.from_pylist(rows, schema=GROUP_GAPS_SCHEMA)


def _largest(values: list[dict[str, object]]) -> str:
    debates: defaultdict[str, set[object]] = defaultdict(set)
    for row in values:
        debates[str(row["value"])].add(row["session_id"])
    return min(debates, key=lambda group: (-len(debates[group]), group))


def _gap(
    values: list[dict[str, object]], group: str, reference: str, cluster: Cluster, settings: Settings
) -> tuple[tuple[float | None, float | None], Estimate]:
    """The two groups' means over the clusters compared, and their difference with its interval."""
    in_group, in_reference = (_by_cluster(values, value, cluster) for value in (group, reference))
    if cluster == "motion":
        names = sorted(in_group.keys() & in_reference.keys())
        if not names:
            return (None, None), no_estimate(0, _UNPAIRED)
    else:
        names = sorted(in_group.keys() | in_reference.keys())
        if not in_group or not in_reference:
            return (None, None), no_estimate(0, f"There is no debate of group {reference!r} to compare with.")
    counts, n_clusters = item_counts(names, settings)
    means = [
        weighted_means(
            np.array([side.get(name, 0.0) for name in names]),
            np.array([float(name in side) for name in names]),
            counts,
        )
        for side in (in_group, in_reference)
    ]
    estimate = estimated(
        means[0] - means[1], n_clusters, settings, _EMPTY_GROUP, "motion" if cluster == "motion" else "debate"
    )
    if cluster == "motion" and n_clusters == 1:
        estimate = Estimate(estimate.value, None, None, None, 1, estimate.status, f"{estimate.note} {_ONE_MOTION}")
    return (float(means[0][0]), float(means[1][0])), estimate


def _by_cluster(values: list[dict[str, object]], group: str, cluster: Cluster) -> dict[str, float]:
    """A group's mean similarity in each cluster, debates of one motion weighing the same."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for row in values:
        if row["value"] == group:
            found[str(row["motion_id" if cluster == "motion" else "session_id"])].append(float(row["similarity"]))
    return {name: float(np.mean(similarities)) for name, similarities in found.items()}
