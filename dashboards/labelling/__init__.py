"""The page on which people label what an audit drew. It reads blind tasks and never the warehouse."""
