select
    (select count(distinct motion_id) from marts.sessions) as motions,
    (select count(*) from marts.sessions) as sessions,
    (select count(*) from marts.sessions where in_analysis) as sessions_in_analysis,
    (select count(*) from marts.turns) as turns,
    (select count(*) from marts.arguments) as arguments,
    (select count(*) from marts.max_prior_pairs) as pairs,
    (select count(*) from marts.extraction_failures) as extraction_failures,
    (select count(*) from marts.rejects) as rejects,
    (select count(*) from marts.annotations) as annotations
