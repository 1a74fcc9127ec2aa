"""Vectors of argument texts, kept by content, and the nearest earlier argument of every argument.

Start with `encoders.load_specs`, `store.VectorStore`, `encode.encode_arguments` and `pairs.write_max_prior_pairs`;
each takes plain paths and values.
"""
