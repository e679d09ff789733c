"""Groups as arguments, with the names that the shell may offer for them."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.admin.cluster import Cluster
from ottla.admin.groups import list_groups
from ottla.cli.connecting import complete_name


async def _group_names(cluster: Cluster) -> list[str]:
    return [each.id for each in await list_groups(cluster)]


def complete_group(context: typer.Context, incomplete: str) -> list[str]:
    return complete_name(context, incomplete, _group_names)


OneGroup = Annotated[
    str, typer.Argument(metavar="GROUP", autocompletion=complete_group, show_default=False)
]
SomeGroups = Annotated[
    list[str], typer.Argument(metavar="GROUP...", autocompletion=complete_group, show_default=False)
]
