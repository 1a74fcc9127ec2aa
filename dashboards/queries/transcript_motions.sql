select motion_id, any_value(motion_text order by (language = $language) desc, language) as motion_text,
    any_value(language order by (language = $language) desc, language) as language
from marts.sessions
group by motion_id
order by motion_id
