"""What was found in a history: a table and sentences, or JSON; and exit code 1 if anything."""

from __future__ import annotations

import json
from collections.abc import Mapping

import typer

from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible
from ottla.verify.findings import Finding, Report

_ROWS = {
    "committed": "transactions committed",
    "aborted": "transactions aborted or left open",
    "unknown_visible": "transactions in doubt that proved whole",
    "unknown_absent": "transactions in doubt that proved absent",
    "records": "records sent",
    "reads": "records read by consumers on the way",
    "transformed": "inputs with an output",
    "events": "events in the history",
}


def tell_report(report: Report, also: Mapping[str, object], *, as_json: bool) -> None:
    """`also` is what JSON says besides. Ends the command with 1 if something was found."""
    if as_json:
        typer.echo(json.dumps({**also, **_to_json(report)}, indent=2))
    else:
        _print(report)
    if not report.is_clean:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    statistics = report.statistics._asdict()
    rows = [(f"{statistics[key]:,}", words) for key, words in _ROWS.items()]
    rows += [(f"{number:,}", f"FOUND: {kind}") for kind, number in report.counts.items()]
    print_table(("COUNT", "WHAT"), rows)
    for finding in report.findings:
        typer.echo(visible(f"{finding.kind}: {finding.sentence}"))
    total = sum(report.counts.values())
    if len(report.findings) < total:
        typer.echo(f"… and {count(total - len(report.findings), 'finding')} more of these kinds.")
    typer.echo(f"{count(total, 'finding')}." if total else "Nothing is wrong with it.")


def _to_json(report: Report) -> dict[str, object]:
    return {
        "statistics": report.statistics._asdict(),
        "counts": {kind.value: number for kind, number in report.counts.items()},
        "findings": [_finding_to_json(each) for each in report.findings],
    }


def _finding_to_json(finding: Finding) -> dict[str, object]:
    partition = finding.partition
    return {
        "kind": finding.kind.value,
        "sentence": finding.sentence,
        "transaction": finding.transaction,
        "client": finding.client,
        "topic": None if partition is None else partition.topic,
        "partition": None if partition is None else partition.partition,
        "offset": finding.offset,
    }
