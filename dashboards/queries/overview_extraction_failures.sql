select extractor, reason, language, count(*) as turns
from marts.extraction_failures
group by extractor, reason, language
order by turns desc, extractor, reason, language
