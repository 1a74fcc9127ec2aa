"""The marts of labels, judgments and scores against what annotators and judges said, worked out in Python."""

from itertools import groupby

import duckdb
import numpy as np
import pytest

from tests.dbt.known_instruments import AUDITS, DIMENSIONS, EN, LABELS, PREFIX_SCORES, SCORES, ZH


def fetched(warehouse: duckdb.DuckDBPyConnection, sql: str) -> list[tuple]:
    return warehouse.sql(sql).fetchall()


def test_a_pair_has_its_settled_label_where_it_came_from_and_its_weight(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select argument_id, label, repeated, strict, label_source, n_labels, stratum, weight, language
        from marts.adjudicated_labels
    """
    assert {row[0]: row[1:] for row in fetched(warehouse, sql)} == {
        f"{EN}/3/1": (2, True, False, "agreed", 2, "en-q5", 1.5, "en"),
        f"{EN}/4/1": (1, False, False, "lower_median", 2, "en-q2", 4.0, "en"),
        # The later round settles what the first left open.
        f"{EN}/5/1": (3, True, True, "adjudication", 3, "en-q3", 2.0, "en"),
        f"{EN}/6/1": (3, True, True, "single", 1, None, None, "en"),
        # The middle one of three.
        f"{ZH}/3/1": (1, False, False, "lower_median", 3, "zh-q1", 2.5, "zh"),
        f"{ZH}/5/1": (3, True, True, "agreed", 2, "zh-q5", 1.0, "zh"),
    }


def test_agreement_compares_first_rounds_only(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select item, rater, rating from marts.ratings
        where comparison = 'annotators' and dimension = 'label'
    """
    expected = {
        (" ".join(pair), annotator, label)
        for pair, (labels, *_) in LABELS.items()
        for annotator, number, label in labels
        if number in (None, 1)
    }
    assert set(fetched(warehouse, sql)) == expected
    collapsed = "select item, rater, rating from marts.ratings where comparison = 'annotators' and dimension = "
    assert set(fetched(warehouse, collapsed + "'repeated'")) == {(i, r, int(label >= 2)) for i, r, label in expected}
    assert set(fetched(warehouse, collapsed + "'strict'")) == {(i, r, int(label == 3)) for i, r, label in expected}


def test_judges_are_rated_against_people_and_against_their_first_round(warehouse: duckdb.DuckDBPyConnection) -> None:
    judged = fetched(
        warehouse,
        """
        select rater, rating from marts.ratings
        where comparison = 'judge_and_people' and judge = 'j' and dimension = 'label' order by item, rater
        """,
    )
    assert len(judged) == 2 * len(LABELS)
    retest = "select item, rater, rating from marts.ratings where comparison = 'retest' and dimension = 'engagement'"
    assert set(fetched(warehouse, retest)) == {(EN, "round 1", 8), (EN, "round 2", 8)}


def test_an_audit_is_averaged_over_the_annotators_who_judged(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select session_id, turn_index, dimension, value, n_annotators from marts.extraction_audits"
    found = {row[:3]: row[3:] for row in fetched(warehouse, sql)}
    assert found == {
        (EN, 1, "quality"): (4.5, 2),
        (EN, 1, "hallucination"): (0.5, 2),
        (ZH, 2, "quality"): (3.0, 2),
        (ZH, 2, "hallucination"): (0.0, 1),
    }
    assert len(AUDITS) == 4


def test_an_unreadable_answer_is_a_row_with_its_reason_and_raw_text(warehouse: duckdb.DuckDBPyConnection) -> None:
    for mart, value in (("pair_judgments", "label"), ("function_labels", "function"), ("outcome_scores", "score")):
        failed = fetched(
            warehouse,
            f"select {value}, failure_reason, raw_response from marts.{mart} where failure_reason is not null",
        )
        assert set(failed) == {(None, "truncated", '{"label":')}, mart
        (blank,) = fetched(
            warehouse, f"select count(*) from marts.{mart} where ({value} is null) <> (failure_reason is not null)"
        )
        assert blank == (0,)


def test_scores_are_rows_by_dimension_and_a_missing_round_is_the_first(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select session_id, judge, round, dimension, score from marts.outcome_scores"
    assert set(fetched(warehouse, sql)) == {
        (session, judge, number or 1, dimension, None if scores is None else scores[place])
        for (session, judge, number), scores in SCORES.items()
        for place, dimension in enumerate(DIMENSIONS)
    }


def test_scores_of_the_first_turns_stand_beside_those_of_the_whole(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select session_id, judge, round, dimension, n_turns, score, whole_score, gain from marts.prefix_scores"
    expected = set()
    for (session, judge, number), scores in PREFIX_SCORES.items():
        whole = SCORES.get((session, judge, number))
        for place, dimension in enumerate(DIMENSIONS):
            of_whole = None if whole is None else whole[place]
            gain = None if of_whole is None else of_whole - scores[place]
            expected.add((session, judge, number or 1, dimension, 4, scores[place], of_whole, gain))
    assert set(fetched(warehouse, sql)) == expected


def test_payoffs_average_repeats_first_and_subtract_within_the_motion(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select analysis, language, reference_language, condition, reference_condition, motion_id, difference
        from marts.outcome_contrasts where dimension = 'engagement'
    """
    assert set(fetched(warehouse, sql)) == {
        ("condition_effect", "en", None, "diversity", "baseline", "M1", 9 - (8 + 9) / 2),
        ("condition_effect", "zh", None, "diversity", "baseline", "M1", 2.0),
        ("difference_in_differences", "zh", "en", "diversity", "baseline", "M1", 2.0 - 0.5),
        ("language_gap", "zh", "en", "baseline", None, "M1", 7 - 8.5),
        ("language_gap", "zh", "en", "diversity", None, "M1", 0.0),
    }


def test_a_judges_scale_counts_its_values_and_its_ceiling(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select language, condition, n_sessions, n_distinct_scores, ceiling, ceiling_share
        from marts.judge_scale where dimension = 'engagement'
    """
    found = {row[:2]: row[2:] for row in fetched(warehouse, sql)}
    assert found[None, None] == (6, 3, 9, 0.5)
    assert found["en", "baseline"] == (3, 2, 9, pytest.approx(1 / 3))
    assert found["zh", None] == (2, 2, 9, 0.5)


def test_the_population_of_calibration_is_binned_by_pooled_quintiles(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = fetched(
        warehouse,
        """
        select encoder, field, similarity, bin, bin_low, bin_high from marts.calibration_pairs
        order by encoder, field
        """,
    )
    population = fetched(
        warehouse,
        """
        select pairs.encoder, pairs.field, pairs.similarity from marts.max_prior_pairs as pairs
        join marts.sessions using (session_id)
        where sessions.in_analysis and pairs.condition = 'baseline' and pairs.language in ('en', 'zh')
            and pairs.extractor = 'main' and similarity is not null
        """,
    )
    assert sorted(row[:3] for row in rows) == sorted(population)
    for _, group in groupby(rows, key=lambda row: row[:2]):
        members = list(group)
        similarity = np.array([row[2] for row in members])
        edges = np.quantile(similarity, [0.2, 0.4, 0.6, 0.8])
        assert [row[3] for row in members] == (1 + np.searchsorted(edges, similarity, side="left")).tolist()
        for _, _, value, _, low, high in members:
            assert (low is None or low < value) and (high is None or value <= high)


def test_only_a_pair_that_people_read_carries_its_label_into_the_population(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    labelled = fetched(
        warehouse,
        "select distinct argument_id, nearest_argument_id, label from marts.calibration_pairs where label is not null",
    )
    settled = fetched(warehouse, "select argument_id, nearest_argument_id, label from marts.adjudicated_labels")
    assert set(labelled) <= set(settled)
    (unlabelled,) = fetched(
        warehouse,
        """
        select count(*) from marts.calibration_pairs as pairs
        join marts.adjudicated_labels as labels using (argument_id, nearest_argument_id)
        where pairs.label is null
        """,
    )
    assert unlabelled == (0,)


def test_every_instrument_meets_the_labels_on_the_same_pairs(warehouse: duckdb.DuckDBPyConnection) -> None:
    counted = fetched(
        warehouse,
        """
        select instrument_kind, instrument, count(*), count(distinct argument_id)
        from marts.instrument_values group by all
        """,
    )
    assert set(counted) == {
        ("encoder", "bge-m3", 6, 6),
        ("encoder", "toy", 6, 6),
        ("scorer", "chrf", 6, 6),
        ("judge", "j", 6, 6),
    }


def test_similarity_stands_beside_first_round_scores_only(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select distinct session_id, score from marts.session_outcomes where dimension = 'argumentative_development'
    """
    assert set(fetched(warehouse, sql)) == {
        (session, scores[0])
        for (session, _, number), scores in SCORES.items()
        if scores is not None and number in (None, 1)
    }


def test_a_published_row_without_ours_says_what_it_needs(warehouse: duckdb.DuckDBPyConnection) -> None:
    for table in ("02", "18", "26", "27", "28", "29", "32", "33", "34"):
        rows = fetched(
            warehouse,
            f"select published_value is not null, estimate is not null, missing from reports.table_{table}",
        )
        assert rows
        for published, ours, missing in rows:
            assert published or missing is None
            assert missing is None or (not ours and missing.startswith("Needs "))


def test_table_32_counts_every_function_of_every_judge(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select judge, function, language, estimate, n_pairs from reports.table_32
        where estimate is not null and (estimate > 0 or language is null)
    """
    found = {row[:3]: row[3:] for row in fetched(warehouse, sql)}
    assert found["j", "rebuttal_or_response", "en"] == (100.0, 1)
    assert found["k", "redundant_restatement", None] == (100.0, 1)
    assert found["j", "unclear_or_other", None] == (0.0, 1)
    assert len([key for key in found if key[2] is None]) == 10


def test_table_34_turns_the_difference_in_differences_as_the_paper_prints_it(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    sql = """
        select estimate from reports.table_34
        where measure = 'engagement' and instrument = 'j' and language = 'en' and reference_language = 'zh'
    """
    assert fetched(warehouse, sql) == [(-1.5,)]
    similarity = """
        select report.estimate, -estimates.estimate
        from reports.table_34 as report
        join marts.gap_estimates as estimates
            on estimates.encoder = report.instrument and estimates.condition = report.condition
        where report.measure = 'similarity' and report.reference_language = 'zh'
            and estimates.contrast = 'condition_change' and estimates.language = 'zh'
            and estimates.aggregate = 'agent_mean' and estimates.field = 'claim' and estimates.variant = 'raw'
            and estimates.extractor = 'main'
    """
    rows = fetched(warehouse, similarity)
    assert len(rows) == 2 and all(ours == theirs for ours, theirs in rows)
