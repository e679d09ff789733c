"""Draws the table: how many times Kafka's throughput, and both latencies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

KAFKA, OTTLA = "#9a9a9a", "#1f6fb2"
Lines = Sequence[dict[str, Any]]


def draw(lines: Lines, folder: Path) -> None:
    """broker-ratios.png and broker-latency.png, of those lines that both brokers have."""
    whole = [line for line in lines if line["ratio"] is not None]
    rates = [line for line in whole if line["unit"] in ("MB/s", "1/s")]
    latencies = [line for line in whole if line["unit"] == "us"]
    if rates:
        _save(_ratios(rates), folder / "broker-ratios.png")
    if latencies:
        _save(_latencies(latencies), folder / "broker-latency.png")


def _ratios(lines: Lines) -> Figure:
    figure, axes = _figure(lines)
    bars = axes.barh(range(len(lines)), [line["ratio"] for line in lines], color=OTTLA)
    axes.bar_label(bars, labels=[f" {line['ratio']:.1f}x" for line in lines], fontsize=8)
    axes.axvline(1, color=KAFKA, linewidth=2)
    axes.set_xlabel("Ottla's throughput as a multiple of Apache Kafka's (grey line)")
    return figure


def _latencies(lines: Lines) -> Figure:
    figure, axes = _figure(lines)
    for shift, name, color in ((-0.2, "kafka", KAFKA), (0.2, "ottla", OTTLA)):
        places = [index + shift for index in range(len(lines))]
        bars = axes.barh(places, [line[name] for line in lines], 0.38, color=color, label=name)
        axes.bar_label(bars, labels=[f" {line[name]:,.0f}" for line in lines], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("microseconds, less is better")
    axes.legend(loc="lower right")
    return figure


def _figure(lines: Lines) -> tuple[Figure, Any]:
    figure = Figure(figsize=(9, 1 + 0.32 * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(lines)), [line["label"] for line in lines], fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=120, metadata={"Software": None})
