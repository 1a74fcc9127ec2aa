"""The parts in which an archive arrives: one folder of archive files is one partition."""

from collections.abc import Iterable

import dagster as dg

archive_parts = dg.DynamicPartitionsDefinition(name="archive_part")


def register_parts(instance: dg.DagsterInstance, names: Iterable[str]) -> list[str]:
    """Make `names` the partitions that `instance` knows; returns those it knew and forgets, in order of name."""
    wanted = list(names)
    gone = sorted(set(instance.get_dynamic_partitions(str(archive_parts.name))) - set(wanted))
    for name in gone:
        instance.delete_dynamic_partition(str(archive_parts.name), name)
    instance.add_dynamic_partitions(str(archive_parts.name), wanted)
    return gone
