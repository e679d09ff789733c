"""`ottla quotas`: how much clients may use, and how often they had to rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ottla.admin import quotas as admin
from ottla.admin.cluster import Cluster
from ottla.admin.quotas import DEFAULT, Entity, Quota
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.http_port import fetch_document
from ottla.cli.outcomes import Outcomes
from ottla.cli.output import print_table, visible
from ottla.protocol.errors import KafkaError

quotas = typer.Typer(
    add_completion=False,
    help="Show and change how much users, client ids and addresses may use.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
KEYS = {
    "producer_byte_rate": "bytes a second that it may produce",
    "consumer_byte_rate": "bytes a second that it may fetch",
    "request_percentage": "share of a thread's time for its requests; 100 is one thread",
    "controller_mutation_rate": "partitions a second that it may create and delete",
    "connection_creation_rate": "connections a second that an address may open",
}
_SETTING = re.compile(r"([^=\s]+)=(.+)")

User = Annotated[str | None, typer.Option("--user", "-u", metavar="NAME", help="A user.")]
ClientId = Annotated[
    str | None, typer.Option("--client-id", "-c", metavar="ID", help="A client id.")
]
Ip = Annotated[str | None, typer.Option("--ip", metavar="ADDRESS", help="An address.")]
DefaultUser = Annotated[
    bool, typer.Option("--default-user", help="Each user who has none of their own.")
]
DefaultClientId = Annotated[
    bool, typer.Option("--default-client-id", help="Each client id that has none of its own.")
]
DefaultIp = Annotated[
    bool, typer.Option("--default-ip", help="Each address that has none of its own.")
]
ValidateOnly = Annotated[
    bool, typer.Option("--validate-only", help="Ask whether it could be done; change nothing.")
]
OptionalUrl = Annotated[
    str | None,
    typer.Option(
        help="An Ottla broker's HTTP port, http://127.0.0.1:PORT: also show how fast the clients "
        "of that broker are, and how often they had to rest.",
        show_default=False,
    ),
]
Use = Mapping[str, Any]


@quotas.command("list")
def list_command(
    *,
    user: User = None,
    client_id: ClientId = None,
    ip: Ip = None,
    url: OptionalUrl = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """List the quotas that are set. With a user, client id or address: those that hold for it.

    Without SASL or TLS every user is `ANONYMOUS`.

    The objects of `--json` have the keys `user`, `client_id`, `ip` (`<default>` for a default),
    `key`, `value` and `use`. Without `--url` that is null, else a list of objects with the keys
    `entity`, `rate`, `throttled_count` and `throttled_ms`.

    Exit code: 0 done; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla quotas list`
    - `ottla quotas list --user alice --client-id reader`
    - `ottla quotas list --url http://127.0.0.1:9600 --json`
    """
    client = _entity(user, client_id, ip)
    found = on_cluster(bootstrap, admin.list_quotas)
    if client.parts:
        found = admin.effective(found, client)
    uses = None if url is None else fetch_document(url, "/debug/quotas", "quotas")["quotas"]
    if as_json:
        told = [{**_to_json(each), "use": _use_of(each, uses)} for each in found]
        typer.echo(json.dumps(told, indent=2))
    elif found:
        _print(found, uses)
    else:
        typer.echo(f"No quotas are set{f' for {client}' if client.parts else ''}.")


@quotas.command("set")
def set_command(
    settings: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", show_default=False)],
    *,
    user: User = None,
    default_user: DefaultUser = False,
    client_id: ClientId = None,
    default_client_id: DefaultClientId = False,
    ip: Ip = None,
    default_ip: DefaultIp = False,
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Set quotas. They hold at once, on every broker, and for each broker by itself.

    Keys: `producer_byte_rate`, `consumer_byte_rate` (bytes a second), `request_percentage` (of a
    thread's time), `controller_mutation_rate` (partitions a second); of addresses
    `connection_creation_rate` (a second).

    The objects of `--json` have the keys `user`, `client_id`, `ip`, `keys` and `error`.

    Exit code: 0 done; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla quotas set producer_byte_rate=1048576 --user alice`
    - `ottla quotas set consumer_byte_rate=5e6 request_percentage=20 --default-client-id`
    - `ottla quotas set connection_creation_rate=10 --ip 10.0.0.7`
    """
    user, client_id = _or_default(user, default_user), _or_default(client_id, default_client_id)
    entity = _entity(user, client_id, _or_default(ip, default_ip))
    changes = dict(_parse(setting) for setting in settings)
    _alter(bootstrap, entity, changes, validate_only=validate_only, as_json=as_json)


@quotas.command()
def remove(
    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY...]", help="Only these; else all.", show_default=False),
    ] = None,
    *,
    user: User = None,
    default_user: DefaultUser = False,
    client_id: ClientId = None,
    default_client_id: DefaultClientId = False,
    ip: Ip = None,
    default_ip: DefaultIp = False,
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Remove quotas, so that the next default holds again, or no limit at all.

    The objects of `--json` have the keys `user`, `client_id`, `ip`, `keys` and `error`.

    Exit code: 0 done; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla quotas remove producer_byte_rate --user alice`
    - `ottla quotas remove --user alice --default-client-id`
    """
    user, client_id = _or_default(user, default_user), _or_default(client_id, default_client_id)
    entity = _entity(user, client_id, _or_default(ip, default_ip))
    for key in keys or ():
        _check_key(key)
    is_for_ips = entity.ip is not None
    all_keys = [key for key in KEYS if (key == "connection_creation_rate") == is_for_ips]
    changes: dict[str, float | None] = dict.fromkeys(keys or all_keys)
    _alter(bootstrap, entity, changes, validate_only=validate_only, as_json=as_json)


def _or_default(name: str | None, default: bool) -> str | None:
    if name is not None and default:
        raise typer.BadParameter("say a name or --default-…, not both.")
    return DEFAULT if default else name


def _entity(user: str | None, client_id: str | None, ip: str | None) -> Entity:
    if ip is not None and (user is not None or client_id is not None):
        raise typer.BadParameter("an address has quotas of its own, without user and client id.")
    return Entity(user, client_id, ip)


def _parse(setting: str) -> tuple[str, float]:
    parts = _SETTING.fullmatch(setting)
    try:
        if parts is None:
            raise ValueError
        key, value = parts[1], float(parts[2])
    except ValueError as cause:
        raise typer.BadParameter(f"{setting!r} is not KEY=NUMBER.") from cause
    _check_key(key)
    return key, value


def _check_key(key: str) -> None:
    if key not in KEYS:
        raise typer.BadParameter(f"{key!r} is no quota. There are: {', '.join(KEYS)}.")


def _alter(
    bootstrap: str,
    entity: Entity,
    changes: Mapping[str, float | None],
    *,
    validate_only: bool,
    as_json: bool,
) -> None:
    if not entity.parts:
        raise typer.BadParameter("say whose: --user, --client-id, --ip, or a --default-… of them.")

    async def alter(cluster: Cluster) -> KafkaError | None:
        try:
            await admin.alter_quotas(cluster, entity, changes, validate_only=validate_only)
        except KafkaError as refusal:
            return refusal
        return None

    refusal = on_cluster(bootstrap, alter)
    outcomes = Outcomes(as_json=as_json)
    told = {**_entity_to_json(entity), "keys": list(changes)}
    verb = "Could change" if validate_only else "Changed"
    if refusal is None:
        outcomes.done(told, f"{verb} {', '.join(changes)} of {entity}.")
    else:
        outcomes.refused(told, str(entity), refusal)
    outcomes.finish()


def _entity_to_json(entity: Entity) -> dict[str, object]:
    return {"user": entity.user, "client_id": entity.client_id, "ip": entity.ip}


def _to_json(quota: Quota) -> dict[str, object]:
    return {**_entity_to_json(quota.entity), "key": quota.key, "value": quota.value}


def _use_of(quota: Quota, uses: Sequence[Use] | None) -> list[dict[str, object]] | None:
    """What those who are held by this quota have used."""
    if uses is None:
        return None
    shown = ("entity", "rate", "throttled_count", "throttled_ms")
    return [
        {name: each[name] for name in shown}
        for each in uses
        if each["key"] == quota.key and each["set_for"] == quota.entity.parts
    ]


def _print(found: Sequence[Quota], uses: Sequence[Use] | None) -> None:
    columns = ["user", "client id", "ip", "value", "quota"]
    rows = [
        [*(visible(part or "-") for part in each.entity), f"{each.value:,g}", each.key]
        for each in found
    ]
    if uses is not None:
        columns[4:] = ["rate", "rested", "rested ms", "quota"]
        for row, quota in zip(rows, found, strict=True):
            used = _use_of(quota, uses) or []
            row[4:4] = [
                f"{sum(float(str(each['rate'])) for each in used):,.6g}",
                f"{sum(int(str(each['throttled_count'])) for each in used):,}",
                f"{sum(int(str(each['throttled_ms'])) for each in used):,}",
            ]
    print_table(columns, rows)
