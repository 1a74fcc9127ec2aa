-- Language gaps with their intervals
select
    encoder, language, round(estimate, 4) as gap, round(ci_low, 4) as ci_low, round(ci_high, 4) as ci_high,
    n_motions, interval_status
from marts.gap_estimates
where contrast = 'language_gap' and condition = 'baseline' and field = 'claim' and variant = 'raw'
    and aggregate = 'agent_mean'
order by encoder, gap desc
