"""`ottla broker`: one broker as a service, configured as Kafka's are."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

import typer

from ottla.broker.advertising import CannotListen
from ottla.broker.broker import Broker
from ottla.broker.ending import Ending
from ottla.broker.service import serve
from ottla.broker.unserved import unserved_warnings
from ottla.cli.failure import fail
from ottla.cli.logs import Level, LogLevel, set_up_logs
from ottla.config.broker_config import BrokerConfig
from ottla.config.option import ConfigError
from ottla.config.ottla_options import OTTLA_HTTP_HOST
from ottla.config.properties import read_properties
from ottla.config.sources import gather, split_settings
from ottla.storage.directory import DirectoryRefused
from ottla.store.port import StoreError

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A broker's option; repeat it. Wins over all else."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Once it serves, print one line of JSON instead of text.")
]


broker = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@broker.command()
def broker_command(
    file: Annotated[str, typer.Argument(help="A server.properties file.", metavar="FILE")],
    *,
    settings: Settings = None,
    as_json: AsJson = False,
    log_level: LogLevel = Level.WARN,
) -> None:
    """Run one broker until SIGTERM or Ctrl-C.

    Options come from the file, then from `OTTLA_…` environment variables (`OTTLA_LOG_DIRS` is
    log.dirs), then from `--set`. What later ones say wins.

    Examples:

    - `ottla broker server.properties`
    - `ottla broker server.properties --set listeners=PLAINTEXT://127.0.0.1:0 --json`
    """
    ending = Ending()
    ending.take_signals()
    try:
        properties = read_properties(file)
    except ConfigError as error:
        fail(str(error))
    run(properties, settings or [], ending, as_json=as_json, log_level=log_level)


def run(
    properties: dict[str, str],
    settings: list[str],
    ending: Ending,
    *,
    as_json: bool,
    log_level: Level,
    testing: bool = False,
    until_stdin_closes: bool = False,
) -> None:
    """Until it is stopped; a mistake of the operator's ends it with a sentence."""
    set_up_logs(log_level)
    try:
        serve(
            _load(properties, settings),
            lambda started: announce(started, as_json=as_json),
            ending,
            testing=testing,
            until_stdin_closes=until_stdin_closes,
        )
    except (ConfigError, CannotListen, DirectoryRefused, StoreError) as error:
        fail(str(error))


def _load(properties: dict[str, str], settings: list[str]) -> BrokerConfig:
    """All mistakes are told at once, those in the form of a setting and those in its value."""
    gathered = gather(properties, environment=os.environ, settings=())
    set_here, mistakes = split_settings(settings)
    try:
        config = BrokerConfig.load({**gathered.properties, **set_here})
    except ConfigError as error:
        raise ConfigError(*mistakes, *error.mistakes) from error
    if mistakes:
        raise ConfigError(*mistakes)
    for warning in (*gathered.warnings, *config.warnings, *unserved_warnings(config)):
        typer.echo(f"warning: {warning}", err=True)
    return config


def announce(broker: Broker, *, as_json: bool) -> None:
    facts: dict[str, Any] = {
        "bootstrap": broker.addresses.bootstrap,
        "pid": os.getpid(),
        "pids": [os.getpid()],
        "broker_id": broker.id,
        "cluster_id": broker.cluster_id,
        "data": list(broker.config.log_dirs),
        "http": _http(broker),
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    bootstrap = broker.addresses.bootstrap
    typer.echo(
        f"Ottla serves at {bootstrap} (broker {broker.id}); data in {', '.join(facts['data'])};\n"
        f"{_observed(facts['http'])}. Stop it with Ctrl-C.\n\n"
        "Try, in another terminal:\n"
        f"  ottla topics create orders --partitions 3 -b {bootstrap}\n"
        f"  echo hello | ottla produce orders -b {bootstrap}\n"
        f"  ottla consume orders --from-beginning -b {bootstrap}"
    )


def _http(broker: Broker) -> str | None:
    if not broker.http.is_open:
        return None
    return f"http://{broker.config[OTTLA_HTTP_HOST]}:{broker.http.port}"


def _observed(http: str | None) -> str:
    if http is None:
        return "metrics and health are not served"
    return f"metrics and health at {http}/metrics and /healthz"
