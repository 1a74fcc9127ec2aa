"""Estimates by any attribute of debates and turns: models, personas, orders of speaking."""

import dagster as dg

from dagster_project import checks
from dagster_project.assets.estimating import estimates_of, read, resampling, write
from dagster_project.estimators.groups import group_gaps_table
from dagster_project.lake import Lake
from dagster_project.study import Study


@estimates_of("group_similarity", check_specs=[checks.GROUPINGS_PRESENT])
def group_gaps(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Each group of the study's groupings against the reference group, with bootstrap intervals.

    One row per attribute, group, extractor, encoder, field and variant.
    """
    (values,) = read(lake, "from marts.group_similarity")
    gaps = group_gaps_table(values, settings.groupings, settings.cluster, resampling(settings))
    return write(lake, "group_gaps", gaps, [checks.groupings_present(values, settings)])
