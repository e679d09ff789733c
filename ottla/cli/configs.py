"""`ottla configs`: show and change the configuration of topics and brokers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated

import typer

from ottla.admin import configs as admin
from ottla.admin.cluster import Cluster
from ottla.admin.configs import (
    Change,
    ConfigEntry,
    ConfigSource,
    Operation,
    Resource,
    ResourceType,
)
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, complete_topic, on_cluster
from ottla.cli.outcomes import Outcomes, error_to_json, sentence
from ottla.cli.output import print_table, visible
from ottla.protocol.errors import KafkaError

configs = typer.Typer(
    add_completion=False,
    help="Show and change the configuration of topics and brokers.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
ALL_BROKERS = "default"
_OPERATIONS = {"": Operation.SET, "+": Operation.APPEND, "-": Operation.SUBTRACT}
_SETTING = re.compile(r"([^=\s]+?)([+-]?)=(.*)", re.DOTALL)

OfTopic = Annotated[
    list[str] | None,
    typer.Option("--topic", "-t", metavar="TOPIC", autocompletion=complete_topic),
]
OfBroker = Annotated[
    list[str] | None,
    typer.Option("--broker", metavar="ID", help="A broker; `default` is what holds for all."),
]
OfLogger = Annotated[
    list[int] | None,
    typer.Option("--broker-logger", metavar="ID", help="The log levels of a broker."),
]
ValidateOnly = Annotated[
    bool, typer.Option("--validate-only", help="Ask whether it could be done; change nothing.")
]


@configs.command()
def describe(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Only these values.", show_default=False),
    ] = None,
    *,
    topic: OfTopic = None,
    broker: OfBroker = None,
    broker_logger: OfLogger = None,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also what nobody has set: the defaults.")
    ] = False,
    synonyms: Annotated[
        bool, typer.Option("--synonyms", help="Below each value what else sets it, nearest first.")
    ] = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show what is configured, and where each value comes from.

    The objects of `--json` have the keys `type`, `name`, `configs` and `error`. Those of `configs`
    have `name`, `value` (null if secret), `source`, `read_only`, `sensitive` and `synonyms`, a
    list of objects with `name`, `value` and `source`.

    Exit code: 0 shown; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla configs describe -t orders --all`
    - `ottla configs describe -t orders retention.ms --synonyms`
    - `ottla configs describe --broker 1 --json`
    """
    resources = _resources(topic, broker, broker_logger)
    found = on_cluster(bootstrap, lambda cluster: admin.describe(cluster, resources, names))
    shown: dict[Resource, Sequence[ConfigEntry] | KafkaError] = {}
    for resource, entries in found.items():
        if isinstance(entries, KafkaError) or everything or names:
            shown[resource] = entries
        else:
            shown[resource] = [e for e in entries if e.source is not ConfigSource.DEFAULT_CONFIG]
    if as_json:
        typer.echo(json.dumps([_to_json(*each) for each in shown.items()], indent=2))
    else:
        for resource, told in shown.items():
            _print(resource, told, with_synonyms=synonyms)
    if any(isinstance(told, KafkaError) for told in shown.values()):
        raise typer.Exit(1)


@configs.command("set")
def set_command(
    settings: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", show_default=False)],
    *,
    topic: OfTopic = None,
    broker: OfBroker = None,
    broker_logger: OfLogger = None,
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Set values. `NAME+=VALUE` adds to a list, `NAME-=VALUE` takes from it.

    The objects of `--json` have the keys `type`, `name`, `configs` (names) and `error`.

    Exit code: 0 done; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla configs set -t orders retention.ms=86400000 cleanup.policy+=compact`
    - `ottla configs set --broker default log.cleaner.threads=2`
    - `ottla configs set --broker-logger 1 kafka.log.LogCleaner=DEBUG`
    """
    changes = [_parse_setting(setting) for setting in settings]
    resources = _resources(topic, broker, broker_logger)
    _alter(bootstrap, resources, changes, validate_only=validate_only, as_json=as_json)


@configs.command()
def delete(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", show_default=False)],
    *,
    topic: OfTopic = None,
    broker: OfBroker = None,
    broker_logger: OfLogger = None,
    validate_only: ValidateOnly = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Delete values, so that the next synonym or the default holds again.

    The objects of `--json` have the keys `type`, `name`, `configs` (names) and `error`.

    Exit code: 0 done; 1 refused by the broker; 2 wrong call.

    Examples:

    - `ottla configs delete -t orders retention.ms`
    """
    changes = [Change(Operation.DELETE, name) for name in names]
    resources = _resources(topic, broker, broker_logger)
    _alter(bootstrap, resources, changes, validate_only=validate_only, as_json=as_json)


def _alter(
    bootstrap: str,
    resources: Sequence[Resource],
    changes: Sequence[Change],
    *,
    validate_only: bool,
    as_json: bool,
) -> None:
    async def alter(cluster: Cluster) -> dict[Resource, KafkaError | None]:
        results: dict[Resource, KafkaError | None] = dict.fromkeys(resources)
        for resource in resources:
            try:
                await admin.alter(cluster, resource, changes, validate_only=validate_only)
            except KafkaError as refusal:
                results[resource] = refusal
        return results

    verb = "Could change" if validate_only else "Changed"
    names = list(dict.fromkeys(change.name for change in changes))
    outcomes = Outcomes(as_json=as_json)
    for resource, refusal in on_cluster(bootstrap, alter).items():
        told = {"type": resource.type.name, "name": resource.name, "configs": names}
        if refusal is None:
            outcomes.done(told, f"{verb} {', '.join(names)} of {resource}.")
        else:
            outcomes.refused(told, str(resource), refusal)
    outcomes.finish()


def _resources(
    topics: Sequence[str] | None, brokers: Sequence[str] | None, loggers: Sequence[int] | None
) -> list[Resource]:
    found = [Resource(ResourceType.TOPIC, name) for name in topics or ()]
    for broker in brokers or ():
        if not broker.isdecimal() and broker != ALL_BROKERS:
            raise typer.BadParameter(
                f"{broker!r} is neither a broker's id nor {ALL_BROKERS!r}.", param_hint="--broker"
            )
        found.append(Resource(ResourceType.BROKER, "" if broker == ALL_BROKERS else broker))
    found += [Resource(ResourceType.BROKER_LOGGER, str(broker)) for broker in loggers or ()]
    if not found:
        raise typer.BadParameter("say whose: --topic NAME, --broker ID or --broker-logger ID.")
    return list(dict.fromkeys(found))


def _parse_setting(text: str) -> Change:
    parts = _SETTING.fullmatch(text)
    if parts is None:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE, NAME+=VALUE or NAME-=VALUE.")
    name, sign, value = parts.groups()
    return Change(_OPERATIONS[sign], name, value)


def _print(
    resource: Resource, told: Sequence[ConfigEntry] | KafkaError, *, with_synonyms: bool
) -> None:
    if isinstance(told, KafkaError):
        typer.echo(visible(f"ottla: {resource}: {sentence(told)}"), err=True)
        return
    if not told:
        typer.echo(visible(f"{resource}: nothing is set. --all shows the defaults."))
        return
    typer.echo(visible(f"{resource}:"))
    rows = []
    for entry in told:
        value = "(secret)" if entry.is_sensitive else visible(entry.value or "")
        rows.append((entry.name, _words(entry), value))
        if with_synonyms:
            rows += [
                (f"  {each.name}", _source(each.source), visible(each.value or ""))
                for each in entry.synonyms
            ]
    print_table(("name", "from", "value"), rows)


def _words(entry: ConfigEntry) -> str:
    return _source(entry.source) + (", read only" if entry.is_read_only else "")


def _source(source: ConfigSource) -> str:
    """`DYNAMIC_TOPIC_CONFIG` is "dynamic topic"."""
    return source.name.removesuffix("_CONFIG").replace("_", " ").lower()


def _to_json(resource: Resource, told: Sequence[ConfigEntry] | KafkaError) -> dict[str, object]:
    return {
        "type": resource.type.name,
        "name": resource.name,
        "configs": [] if isinstance(told, KafkaError) else [_entry_to_json(each) for each in told],
        "error": error_to_json(told) if isinstance(told, KafkaError) else None,
    }


def _entry_to_json(entry: ConfigEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source.name,
        "read_only": entry.is_read_only,
        "sensitive": entry.is_sensitive,
        "synonyms": [
            {"name": each.name, "value": each.value, "source": each.source.name}
            for each in entry.synonyms
        ],
    }
