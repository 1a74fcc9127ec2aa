{#- Fails with every interval that has one end, ends out of order, or another verdict about zero than its ends give. -#}
{% test whole_interval(model) %}

select *
from {{ model }}
where (interval_status = 'no_interval') <> (ci_low is null)
    or (ci_low is null) <> (ci_high is null)
    or (ci_low is null) <> (ci_excludes_zero is null)
    or (ci_low is null and interval_note is null)
    or ci_low > ci_high
    or ci_excludes_zero <> (ci_low > 0 or ci_high < 0)

{% endtest %}
