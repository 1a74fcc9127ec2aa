"""Estimates that put the gaps to the test: on subsets of motions, other decoding, translated, beside volume."""

import dagster as dg

from dagster_project.assets.estimating import estimates_of, read, resampling, write
from dagster_project.estimators.contrasts import estimate_contrasts
from dagster_project.estimators.subsets import estimate_subsets
from dagster_project.estimators.volume import output_volume_table
from dagster_project.lake import Lake
from dagster_project.study import Study


@estimates_of("subset_contrasts")
def subset_gap_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Contrasts on subsets of motions: reviewed translations, re-extracted, repeated [paper A.5, A.7, F.6].

    One row per set of motions and contrast.
    """
    (differences,) = read(lake, "from marts.subset_contrasts")
    return write(lake, "subset_gap_estimates", estimate_subsets(differences, **settings.estimator.model_dump()))


@estimates_of("volume_contrasts")
def output_volume(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """How much more or less is said under a condition than in the baseline [paper 4.4].

    One row per measure, language, condition and extractor.
    """
    (amounts,) = read(lake, "from marts.volume_contrasts order by all")
    return write(lake, "output_volume", output_volume_table(amounts, resampling(settings)))


@estimates_of("decoding_contrasts")
def decoding_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Speeches that continue equal contexts: what a setting changes, and the gap under it [paper E.3].

    One row per contrast; none in a study without continuations.
    """
    (differences,) = read(lake, "from marts.decoding_contrasts")
    return write(lake, "decoding_estimates", estimate_contrasts(differences, **settings.estimator.model_dump()))


@estimates_of("translation_contrasts")
def translation_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """What is left of a language gap when all is read in one language, beside a round trip's own effect [paper E.4].

    One row per contrast; none in a study without translated sessions.
    """
    (differences,) = read(lake, "from marts.translation_contrasts")
    return write(lake, "translation_estimates", estimate_contrasts(differences, **settings.estimator.model_dump()))


ESTIMATES = [subset_gap_estimates, output_volume, decoding_estimates, translation_estimates]
