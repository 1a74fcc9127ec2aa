"""How records come in: archives read against the contract, and extractor answers parsed into argument units.

Every function works on plain paths and writes into the directory it is handed. Nothing here knows Dagster or DuckDB.
"""
