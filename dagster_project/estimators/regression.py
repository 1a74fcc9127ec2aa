"""Turn-level regressions of prior-argument similarity on language, with motion fixed effects [paper E.2, F.5].

Specification A has the language alone, B adds phase, agent, role, side and motion effects, C adds what the extraction
could account for. C is refitted on resampled motions as well, and B is fitted once more as a mixed model.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.bootstrap import IntervalStatus, resample_counts
from dagster_project.estimators.grouped import Rows, groups
from dagster_project.estimators.resampled import Estimate, Settings, estimated, no_estimate

CATEGORICAL = ("phase", "agent", "role", "side")
CONTROLS = (
    "mean_claim_length",
    "n_arguments",
    "empty_warrant_rate",
    "empty_evidence_rate",
    "prior_pool_size",
    "sentence_count",
)

SPECIFICATIONS = ("A", "B", "C", "C_bootstrap", "mixed")

_MEASURE = ["condition", "extractor", "encoder", "field", "variant"]
# A diagonal of the triangular factor below this share of its column's length is rounding: the column depends on others.
_DEPENDENT = 1e-9
# Residuals below this share of the outcome's length are rounding: the columns account for every turn.
_EXACT = 1e-10
# Eigenvalues of normal equations with columns of length 1 below this are rounding.
_SINGULAR = 1e-10
_CLEARLY_REGULAR = 1e-4
_UNTOUCHED = 1e-6
# Replicates solved at once: bounds the memory of their normal equations.
_CHUNK = 500

_UNDETERMINED = "Their motions do not tell this column from the others."

_EXACT_FIT = "The columns account for every turn exactly, so nothing is left to estimate errors from."
_NO_ERROR = "The fit has no finite standard error."

REGRESSION_ESTIMATES_SCHEMA = pa.schema(
    [
        pa.field("specification", pa.string(), nullable=False),
        pa.field("term", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("reference_language", pa.string(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False) for name in _MEASURE),
        pa.field("estimate", pa.float64()),
        pa.field("std_error", pa.float64()),
        pa.field("ci_low", pa.float64()),
        pa.field("ci_high", pa.float64()),
        pa.field("ci_excludes_zero", pa.bool_()),
        pa.field("n_turns", pa.int64(), nullable=False),
        pa.field("n_motions", pa.int64(), nullable=False),
        pa.field("n_resamples", pa.int64()),
        pa.field("seed", pa.int64()),
        pa.field("dropped_columns", pa.list_(pa.string()), nullable=False),
        pa.field("singular", pa.bool_()),
        pa.field("interval_status", pa.string(), nullable=False),
        pa.field("interval_note", pa.string()),
    ]
)


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a regression: an outcome (n,), named regressors (n, k) and the motion of each row (n,).

    The regressors are linearly independent, also given one intercept per motion where ``motion_effects`` says that
    there are such; the columns that depended on those before them are named in ``dropped``.
    """

    outcome: NDArray[np.float64]
    regressors: NDArray[np.float64]
    names: tuple[str, ...]
    motion: NDArray[np.int64]
    motion_effects: bool
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """Coefficients by name with standard errors and interval ends, each (k,); NaN where there is none."""

    names: tuple[str, ...]
    estimate: NDArray[np.float64]
    std_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: NDArray[np.float64] | None = None
    singular: bool | None = None


def design(rows: Rows, language: str, specification: str) -> Design:
    """The design of specification A, B or C for ``language`` against the other language in ``rows``.

    Raises ValueError for a number that is missing: leaving such turns out is a decision of whoever selects them.
    """
    columns: dict[str, NDArray[np.float64]] = {
        "language": np.array([value == language for value in rows["language"]], dtype=np.float64)
    }
    if specification != "A":
        for name in CATEGORICAL:
            values = np.array([value or "" for value in rows[name]], dtype=object)
            # The first level is the one that the others are compared with.
            columns |= {f"{name}[{level}]": (values == level).astype(np.float64) for level in np.unique(values)[1:]}
    if specification == "C":
        columns |= {name: _numbers(rows, name) for name in CONTROLS}
    motion = np.unique(np.asarray(rows["motion_id"], dtype=object), return_inverse=True)[1]
    effects = specification != "A"
    matrix = np.column_stack(list(columns.values()))
    kept = independent_columns(within_motions(matrix, motion) if effects else matrix - matrix.mean(axis=0), matrix)
    names = np.array(list(columns))
    return Design(
        outcome=_numbers(rows, "mean_arg_max_prev"),
        regressors=matrix[:, kept],
        names=tuple(names[kept].tolist()),
        motion=motion,
        motion_effects=effects,
        dropped=tuple(np.delete(names, kept).tolist()),
    )


def independent_columns(centred: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """The columns of ``centred`` (n, k) that do not depend on the columns before them, in order.

    ``matrix`` holds the columns before centring: its lengths say what counts as rounding.
    """
    length = np.linalg.norm(matrix, axis=0)
    basis = np.empty((len(centred), 0))
    kept = []
    for column in range(centred.shape[1]):
        rest = centred[:, column]
        # Twice, because one projection leaves what rounding let through.
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > _DEPENDENT * max(length[column], 1e-300) * np.sqrt(len(centred)):
            basis = np.column_stack([basis, rest / size])
            kept.append(column)
    return np.array(kept, dtype=np.int64)


def fit_ols(given: Design, confidence: float, use_t: bool = False) -> Fit:
    """OLS with errors clustered by motion.

    The small-sample factor G/(G−1) · (N−1)/(N−K), with the motion effects counted in K, and the normal distribution are
    those of ``statsmodels`` with ``cov_type="cluster"``; with ``use_t`` it is the t distribution with G−1 degrees of
    freedom.
    """
    # Loaded here, because it takes longer to load than the rest of the definitions together.
    from statsmodels.regression.linear_model import OLS

    intercepts = (
        np.eye(given.motion.max() + 1)[given.motion] if given.motion_effects else np.ones((len(given.motion), 1))
    )
    fit = OLS(given.outcome, np.column_stack([given.regressors, intercepts])).fit(
        cov_type="cluster", cov_kwds={"groups": given.motion}, use_t=use_t
    )
    k = len(given.names)
    low, high = fit.conf_int(1 - confidence)[:k].T
    return Fit(given.names, fit.params[:k], fit.bse[:k], low, high, fit.pvalues[:k])


def fit_mixed(given: Design, confidence: float) -> Fit:
    """The same fixed effects, motion effects included, and a random intercept by motion, by restricted likelihood.

    ``singular`` says that the variance of the random intercept is on its boundary or not determined. The motion effects
    leave it nothing to explain, so that is what to expect; the errors are then those of OLS without clustering.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    intercepts = np.eye(given.motion.max() + 1)[given.motion]
    model = MixedLM(given.outcome, np.column_stack([given.regressors, intercepts]), given.motion)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        fit = model.fit(reml=True, method=["lbfgs"])
    k = len(given.names)
    low, high = fit.conf_int(1 - confidence)[:k].T
    doubted = any(issubclass(warning.category, ConvergenceWarning) for warning in raised)
    singular = doubted or not fit.converged or bool(fit.cov_re[0, 0] < 1e-4 * fit.scale)
    return Fit(given.names, np.asarray(fit.fe_params)[:k], np.asarray(fit.bse_fe)[:k], low, high, singular=singular)


def refit_on_resamples(given: Design, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coefficients of OLS with motion effects, refitted on each resample of motions: (n_resamples, k).

    ``counts`` (n_resamples, n_motions) says how often a resample holds each motion. Every drawn copy of a motion has
    its own effect, so the copies' rows are centred by themselves, and a refit needs only how often to add each motion's
    sums of squares and products. Where a resample makes columns dependent, the coefficients that its rows still
    determine have their value, which is the same whichever of the columns is left out; the others are NaN.
    """
    centred = within_motions(given.regressors, given.motion)
    outcome = within_motions(given.outcome[:, None], given.motion)[:, 0]
    # Columns of like length keep the normal equations well conditioned.
    length = np.linalg.norm(centred, axis=0)
    centred = centred / length
    n_motions, k = counts.shape[1], centred.shape[1]
    squares, products = np.zeros((n_motions, k, k)), np.zeros((n_motions, k))
    np.add.at(squares, given.motion, centred[:, :, None] * centred[:, None, :])
    np.add.at(products, given.motion, centred * outcome[:, None])

    coefficients = np.empty((len(counts), k))
    for start in range(0, len(counts), _CHUNK):
        some = counts[start : start + _CHUNK]
        left = (some @ squares.reshape(n_motions, k * k)).reshape(-1, k, k)
        right = some @ products
        regular = _are_regular(left)
        solved = np.empty((len(some), k))
        solved[regular] = np.linalg.solve(left[regular], right[regular][:, :, None])[:, :, 0]
        for row in np.flatnonzero(~regular):
            solved[row] = _what_is_determined(left[row], right[row])
        coefficients[start : start + _CHUNK] = solved / length
    return coefficients


def _are_regular(left: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of these normal equations (n, k, k) have one solution."""
    try:
        # A pivot is what a column adds to those before it: where all add enough, eigenvalues need not be computed.
        pivots = np.linalg.cholesky(left).diagonal(axis1=1, axis2=2) ** 2
        regular = pivots.min(axis=1) > _CLEARLY_REGULAR
    except np.linalg.LinAlgError:
        regular = np.zeros(len(left), dtype=np.bool_)
    regular[~regular] = np.linalg.eigvalsh(left[~regular])[:, 0] > _SINGULAR
    return regular


def _what_is_determined(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The solution of singular normal equations where it is unique, NaN in the other places."""
    values, vectors = np.linalg.eigh(left)
    free = values <= _SINGULAR
    solution = vectors[:, ~free] @ ((vectors[:, ~free].T @ right) / values[~free])
    # A coefficient is unique where no direction that the rows leave free touches it.
    return np.where(np.linalg.norm(vectors[:, free], axis=1) < _UNTOUCHED, solution, np.nan)


def regression_table(turns: pa.Table, reference_language: str, settings: Settings) -> pa.Table:
    """One row in ``REGRESSION_ESTIMATES_SCHEMA`` per specification, term, language and measure.

    ``turns`` has one row per turn and measure: motion_id, language, phase, agent, role, side, mean_arg_max_prev, the
    columns of ``CONTROLS`` and condition, extractor, encoder, field, variant. Each other language is regressed against
    ``reference_language``. What cannot be estimated keeps its row, with its reason in ``interval_note``.
    """
    rows: list[dict[str, object]] = []
    for measure, members in groups(turns, _MEASURE):
        for language in sorted(set(members["language"]) - {reference_language}):
            part = _only(members, (language, reference_language))
            key = measure | {"language": language, "reference_language": reference_language}
            rows += [
                key | {"specification": name} | row
                for name in SPECIFICATIONS
                for row in _estimates(name, part, language, settings)
            ]
    return pa.Table.from_pylist(rows, schema=REGRESSION_ESTIMATES_SCHEMA)


def _estimates(specification: str, rows: Rows, language: str, settings: Settings) -> list[dict[str, object]]:
    given = design(rows, language, {"C_bootstrap": "C", "mixed": "B"}.get(specification, specification))
    n_motions = int(given.motion.max()) + 1
    about = {
        "n_turns": len(given.outcome),
        "n_motions": n_motions,
        "dropped_columns": list(given.dropped),
        "n_resamples": settings.n_resamples if specification == "C_bootstrap" else None,
        "seed": settings.seed if specification == "C_bootstrap" else None,
    }
    reason = _why_none(given, n_motions)
    if reason:
        return [about | {"term": "language"} | _columns(no_estimate(n_motions, reason), None, None)]
    if specification == "C_bootstrap" and not _is_exact(given):
        found = _bootstrapped(given, n_motions, settings)
    else:
        fit = fit_mixed(given, settings.confidence) if specification == "mixed" else fit_ols(given, settings.confidence)
        found = _fitted(given, fit, n_motions, settings)
    return [about | {"term": name} | row for name, row in zip(given.names, found, strict=True) if _is_shown(name)]


def _fitted(given: Design, fit: Fit, n_motions: int, settings: Settings) -> list[dict[str, object]]:
    """The columns of each term of a fit."""
    exact = _is_exact(given)
    few = few_clusters_note(n_motions, settings.min_clusters)
    singular = (
        "The random intercept has no variance, so the errors take turns for independent." if fit.singular else None
    )
    note = " ".join(filter(None, (singular, few))) or None
    status: IntervalStatus = "too_few_clusters" if few else "ok"
    found = []
    for value, error, low, high in zip(
        *(numbers.tolist() for numbers in (fit.estimate, fit.std_error, fit.low, fit.high)), strict=True
    ):
        if exact or not np.isfinite([error, low, high]).all():
            estimate = Estimate(value, None, None, None, n_motions, "no_interval", _EXACT_FIT if exact else _NO_ERROR)
            found.append(_columns(estimate, None, fit.singular))
        else:
            excludes_zero = low > 0 or high < 0
            estimate = Estimate(value, low, high, excludes_zero, n_motions, status, note)
            found.append(_columns(estimate, error, fit.singular))
    return found


def _bootstrapped(given: Design, n_motions: int, settings: Settings) -> list[dict[str, object]]:
    """The columns of each term, from its refits on resampled motions."""
    counts = resample_counts(n_motions, settings.n_resamples, np.random.default_rng(settings.seed))
    found = []
    for replicates in refit_on_resamples(given, counts.astype(np.float64)).T:
        defined = replicates[~np.isnan(replicates)]
        # The published row gives the mean of the refits, not the fit itself.
        mean = defined.mean() if len(defined) else np.nan
        estimate = estimated(np.append(mean, replicates), n_motions, settings, _UNDETERMINED)
        error = None if estimate.low is None else float(defined.std(ddof=1))
        found.append(_columns(estimate, error, None))
    return found


def _columns(estimate: Estimate, std_error: float | None, singular: bool | None) -> dict[str, object]:
    return {
        "estimate": estimate.value,
        "std_error": std_error,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "ci_excludes_zero": estimate.excludes_zero,
        "singular": singular,
        "interval_status": estimate.status,
        "interval_note": estimate.note,
    }


def _is_shown(name: str) -> bool:
    return name == "language" or name in CONTROLS


def _is_exact(given: Design) -> bool:
    """Whether the regressors, with the effects they come with, leave no residual but rounding."""
    group = given.motion if given.motion_effects else np.zeros_like(given.motion)
    regressors, outcome = within_motions(given.regressors, group), within_motions(given.outcome[:, None], group)[:, 0]
    residual = outcome - regressors @ np.linalg.lstsq(regressors, outcome, rcond=None)[0]
    return bool(np.linalg.norm(residual) <= _EXACT * np.linalg.norm(given.outcome))


def _why_none(given: Design, n_motions: int) -> str | None:
    if "language" not in given.names:
        return "The two languages share no motion, so motion effects and language cannot be told apart."
    if n_motions < 2:
        return "Only one motion: errors clustered by motion need at least two."
    if np.ptp(given.outcome) == 0:
        return f"Every turn has the similarity {given.outcome[0]:g}: there is nothing to explain."
    parameters = len(given.names) + (n_motions if given.motion_effects else 1)
    if len(given.outcome) <= parameters:
        return f"{len(given.outcome)} turns and {parameters} parameters: nothing is left to estimate errors from."
    return None


def _only(rows: Rows, languages: Sequence[str]) -> Rows:
    use = [language in languages for language in rows["language"]]
    return {name: [value for value, keep in zip(values, use, strict=True) if keep] for name, values in rows.items()}


def few_clusters_note(n_motions: int, min_clusters: int) -> str | None:
    """What a reader of errors clustered by this many motions has to know; None when there are enough."""
    if n_motions < min_clusters:
        return f"Only {n_motions} motions: clustered errors tend to be too small below {min_clusters}."
    return None


def _numbers(rows: Rows, name: str) -> NDArray[np.float64]:
    numbers = np.asarray(rows[name], dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{np.count_nonzero(~np.isfinite(numbers))} of {len(numbers)} turns have no {name}")
    return numbers


def within_motions(matrix: NDArray[np.float64], motion: NDArray[np.int64]) -> NDArray[np.float64]:
    """The columns less their means over the rows of each motion."""
    sums = np.zeros((motion.max() + 1, matrix.shape[1]))
    np.add.at(sums, motion, matrix)
    return matrix - (sums / np.bincount(motion)[:, None])[motion]
