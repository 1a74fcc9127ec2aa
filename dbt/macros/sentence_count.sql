{#-
    The number of sentences in `text` [paper E.5].

    A sentence ends at a run of `terminators` (the language's own marks, from the reference list of languages) or of
    ellipses: "?!" and "..." end one sentence. Closing quotes and brackets belong to the sentence before them, and a
    last fragment without a mark is a sentence. Before that split, `rules` (pattern, replacement) take out the marks
    that do not end a sentence, in this order:
      - the dot after a number that opens a line, and the one inside EE. UU.
      - abbreviations that something always follows (e.g., p. ej., т. е., Dr.), or a number does (no. 5, art. 12); a
        capital stays one, so that a sentence can begin with it
      - initials and initialisms (J. S. Mill, U.S.), Arabic titles (د.), Russian г. for a town, not for a year
      - dots inside a word or number (example.com, 3.5)
      - what a lower-case letter follows: "etc. and", "и т. д. стоят", a quoted question before its verb
      - what a comma, colon or semicolon follows

    RE2 has no look-around, so a rule captures what stands beside a mark and puts it back. Limits: a sentence that ends
    in an initialism ("in the U.S. The ...") runs on into the next, and a quoted question before its verb counts twice
    in scripts without upper and lower case, where nothing on the page tells the two apart.
-#}
{% macro sentence_count(text, terminators) -%}
    {%- set space = '[' ~ whitespace() ~ ']' -%}
    {%- set closing = "[\"'”’»›)\\]}」』》〉】）*_]" -%}
    {%- set word_start = '(^|[^\\p{L}\\p{M}\\p{N}])' -%}
    {%- set dotted = ['e\\. ?g', 'i\\. ?e', 'p\\. ?ej', 'p\\. ?ex', 'т\\. ?е', 'т\\. ?к'] | join('|') -%}
    {%- set dotted_at_start = ['E\\. ?g', 'I\\. ?e', 'P\\. ?ej', 'P\\. ?ex', 'Т\\. ?е', 'Т\\. ?к'] | join('|') -%}
    {%- set never_final = [
        'vs', 'cf', 'dr', 'dra', 'mr', 'mrs', 'ms', 'mme', 'mlle', 'prof', 'sr', 'sra', 'srta', 'st', 'gen', 'sen',
        'см', 'напр', 'ул', 'проф',
    ] | join('|') -%}
    {%- set before_a_number = [
        'nos?', 'núm', 'arts?', 'cap', 'fig', 'vol', 'pp?', 'ch', 'sec', 'ca?', 'approx',
        'ст', 'стр', 'гл', 'рис', 'п', 'ص',
    ] | join('|') -%}
    {%- set rules = [
        ('(?m)^\\s*\\d{1,2}\\.\\s+', ''),
        ('EE\\. ?UU', 'EEUU'),
        (word_start ~ '(?:' ~ dotted ~ ')\\.', '\\1x'),
        (word_start ~ '(?:' ~ dotted_at_start ~ ')\\.', '\\1X'),
        ('(?i)' ~ word_start ~ '(' ~ never_final ~ ')\\.', '\\1\\2_'),
        ('(?i)' ~ word_start ~ '(' ~ before_a_number ~ ')\\.(' ~ space ~ '*\\p{N})', '\\1\\2_\\3'),
        (word_start ~ '(?:\\p{Lu}\\.[ \\x{A0}\\x{202F}-]?)+', '\\1X '),
        (word_start ~ '(أ\\.د|[دأ])\\.', '\\1\\2_'),
        ('(^|[^\\p{N}' ~ whitespace() ~ ']' ~ space ~ '+)г\\.(' ~ space ~ '+\\p{Lu})', '\\1г_\\2'),
        ('\\.+([\\p{Latin}\\p{Cyrillic}\\p{Arabic}\\p{N}])', '_\\1'),
        ('[.…]+(' ~ closing ~ '*(?:' ~ space ~ '|[—–])+\\p{Ll})', '\\1'),
        ('[!?]+(' ~ space ~ '?' ~ closing ~ '+(?:' ~ space ~ '|[—–])+\\p{Ll})', '\\1'),
        ('[!?]+(' ~ space ~ '+[—–]' ~ space ~ '+\\p{Ll})', '\\1'),
        ('[.!?…]+(' ~ closing ~ '*[,;:،؛])', '\\1'),
    ] -%}
    {%- set protected = namespace(sql=text) -%}
    {%- for pattern, replacement in rules -%}
        {%- set protected.sql -%}
            regexp_replace({{ protected.sql }}, '{{ pattern | replace("'", "''") }}', '{{ replacement }}', 'g')
        {%- endset -%}
    {%- endfor -%}
    len(list_filter(
        string_split_regex({{ protected.sql }}, '[' || regexp_escape({{ terminators }}) || '…]+'),
        lambda fragment: regexp_matches(fragment, '[\p{L}\p{N}]')
    ))
{%- endmacro %}
