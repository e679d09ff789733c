"""The figures of both brokers side by side, and whether Ottla's are what they must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.beside.rows import Row

Figures = dict[str, float]


@dataclass(slots=True)
class Table:
    figures: dict[str, Figures] = field(default_factory=dict)  # by the target's name
    # By the row: Ottla over Kafka in each pass. They tell what is the machine's noise.
    ratios: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, lines: Sequence[dict[str, Any]]) -> Table:
        """What `as_json` made."""
        table = cls()
        for line in lines:
            for name in ("Kafka", "Ottla"):
                if (value := line[name.lower()]) is not None:
                    table.figures.setdefault(name, {})[line["label"]] = value
            table.ratios[line["label"]] = line["ratios"]
        return table

    def as_json(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        return [self._line(row) for row in rows]

    def text(self, rows: Sequence[Row]) -> str:
        head = f"{'':40} {'Kafka':>10} {'Ottla':>10} {'':4} {'ratio':>6} {'passes':>11} {'must':>9}"
        return "\n".join([head, *(_text(self._line(row)) for row in rows)])

    def _line(self, row: Row) -> dict[str, Any]:
        kafka = self.figures.get("Kafka", {}).get(row.label)
        ottla = self.figures.get("Ottla", {}).get(row.label)
        is_met = None
        if row.must and ottla is not None:
            is_met = row.must.is_met(ottla=ottla, kafka=kafka)
        return {
            "label": row.label,
            "unit": row.unit,
            "kafka": kafka,
            "ottla": ottla,
            "ratio": ottla / kafka if ottla is not None and kafka else None,
            "ratios": [round(each, 3) for each in self.ratios.get(row.label, [])],
            "must": str(row.must) if row.must else "",
            "ok": is_met,
            "is_open": is_met is False and self.is_undecided(row),
        }

    def is_undecided(self, row: Row) -> bool:
        """Whether some passes met the limit and some did not: others might tell."""
        ratios = self.ratios.get(row.label)
        if not ratios or row.must is None or not row.must.is_ratio:
            return False
        return min(ratios) <= row.must.limit <= max(ratios)


def _text(line: dict[str, Any]) -> str:
    verdict = {True: "ok", False: "SHORT", None: ""}[line["ok"]]
    if line["is_open"]:
        verdict = "OPEN"  # short by the median, but within the noise of this run
    figures = f"{_number(line['kafka']):>10} {_number(line['ottla']):>10} {line['unit']:4}"
    ratio = "-" if line["ratio"] is None else f"{line['ratio']:.2f}"
    passes = f"{min(line['ratios']):.2f}-{max(line['ratios']):.2f}" if line["ratios"] else ""
    end = f"{ratio:>6} {passes:>11} {line['must']:>9} {verdict}"
    return f"{line['label']:40} {figures} {end}".rstrip()


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
