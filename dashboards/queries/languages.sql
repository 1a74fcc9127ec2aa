select language, name, direction
from marts.languages
