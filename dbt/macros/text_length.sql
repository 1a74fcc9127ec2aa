{#- The inside of a character class with everything Unicode calls white space; RE2's own \s knows ASCII only. -#}
{% macro whitespace() -%}
\s\x{0B}\x{1C}-\x{1F}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}
{%- endmacro %}


{#- The length of a text in its language's unit [paper E.5]: tokens between white space, or characters without it. -#}
{% macro text_length(text, length_unit) -%}
    case {{ length_unit }}
        when 'characters' then length(regexp_replace({{ text }}, '[{{ whitespace() }}]+', '', 'g'))
        when 'tokens' then len(regexp_extract_all({{ text }}, '[^{{ whitespace() }}]+'))
    end
{%- endmacro %}
