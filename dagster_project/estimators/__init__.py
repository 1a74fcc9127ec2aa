"""Statistics as pure functions: arrays or tables and a seed in, frozen dataclasses or tables out."""
