"""Topics that keep the message formats before 0.11; the broker must speak an older version."""

from __future__ import annotations

from ottla.protocol.records.compression import Codec
from tests.differential.case import OLD_FORMATS, Case, Topic, case
from tests.differential.cases.configs import TOPIC, describe
from tests.differential.cases.idempotence import NEW, SHOWN, send
from tests.differential.cases.offsets import epoch_end
from tests.differential.cases.produce import written
from tests.differential.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    T0,
    At,
    To,
    When,
    fetch,
    list_offsets,
    produce,
)

FORMATS = {"0.9.0": 0, "0.10.2": 1, "0.11.0": 2}


def _topic(version: str, **configs: str) -> list[Topic]:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return [Topic("t", configs={"message.format.version": version} | named)]


CASES: tuple[Case, ...] = (
    *(
        case(f"format-{name}-produce-v{v}", produce(v, To(written(v))), fetch(12, At()),
             fetch(2, At(1)), fetch(0, At()), topics=_topic(name), broker=OLD_FORMATS)
        for name in FORMATS
        for v in (0, 2, 3, 11)
    ),
    *(
        case(f"format-{name}-{codec.name.lower()}", produce(7, To(written(7, codec))),
             produce(2, To(written(2, codec))) if codec is not Codec.ZSTD else fetch(4, At()),
             fetch(12, At()), fetch(2, At(1)), fetch(1, At()), topics=_topic(name),
             broker=OLD_FORMATS)
        for name in FORMATS
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
    ),
    *(
        case(f"format-{name}-offsets", produce(7, To(written(7))),
             *(list_offsets(9, When(t)) for t in (LATEST, EARLIEST, MAX_TIMESTAMP, T0, T0 + 1)),
             list_offsets(0, When(T0)), epoch_end(4, ("t", 0, -1, 0)), topics=_topic(name),
             broker=OLD_FORMATS)
        for name in FORMATS
    ),
    *(
        case(f"format-{name}-idempotent", NEW, send(0), SHOWN, topics=_topic(name),
             broker=OLD_FORMATS)
        for name in FORMATS
    ),
    *(
        case(f"format-{name}-append-time", produce(7, To(written(7))), fetch(12, At()),
             topics=_topic(name, message_timestamp_type="LogAppendTime"), broker=OLD_FORMATS)
        for name in FORMATS
    ),
    case("format-described", describe(4, (TOPIC, "t"), keys=["message.format.version"],
                                      synonyms=True),
         topics=_topic("0.10.2"), broker=OLD_FORMATS),
    # At its newest, a broker writes only the newest format whatever the topic says.
    case("format-ignored", produce(2, To(written(2))), fetch(12, At()),
         describe(4, (TOPIC, "t"), keys=["message.format.version"], synonyms=True),
         topics=_topic("0.10.2")),
)  # fmt: skip
