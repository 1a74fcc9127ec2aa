"""The parts in which an archive arrives: one folder of archive files is one partition."""

from collections.abc import Iterable

import dagster as dg

archive_parts = dg.DynamicPartitionsDefinition(name="archive_part")


def register_parts(instance: dg.DagsterInstance, names: Iterable[str]) -> None:
    """Make `names` the partitions that `instance` knows: new ones are added, vanished ones forgotten."""
    wanted = list(names)
    known = instance.get_dynamic_partitions(str(archive_parts.name))
    for vanished in sorted(set(known) - set(wanted)):
        instance.delete_dynamic_partition(str(archive_parts.name), vanished)
    instance.add_dynamic_partitions(str(archive_parts.name), wanted)
