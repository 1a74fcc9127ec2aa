select build_id, content_digest, published_at, study, archive_digest, reprise_version, duckdb_version, dbt_version
from meta.build
