"""Dashboards over the published warehouse: they read it and write nothing."""
