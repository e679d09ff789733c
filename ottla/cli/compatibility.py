"""docs/COMPATIBILITY.md: every API, its versions beside Apache Kafka's, and what is left out.

The page is written here and never by hand, so that it cannot fall behind the code.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.cli.apis import Api, all_apis, version_range
from ottla.handlers import HANDLERS

# The newest version of each API that a broker of 2.0.0 advertises, by key; the oldest is 0.
_KAFKA_2_0_0 = dict(
    enumerate(
        [
            *(6, 8, 3, 6, 1, 0, 4, 1, 4, 4, 2, 3, 2, 2, 2, 2, 2, 1, 2, 3, 2, 1),
            *(1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 2, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1),
        ]
    )
)
# Likewise of a broker of 3.9.1 with ZooKeeper, which leaves out what only KRaft has.
_KAFKA_3_9_1 = dict(
    enumerate(
        [
            *(11, 17, 9, 12, 7, 4, 8, 3, 9, 9, 6, 9, 4, 5, 5, 5, 5, 1, 4, 7, 6, 2, 5, 4, 5, 4),
            *(4, 1, 4, 3, 3, 3, 4, 2, 2, 4, 2, 3, 3, 2, 2, 3, 2, 2, 1, 0, 0, 0, 1, 1, 0, 0),
        ]
    )
) | {56: 3, 57: 1, 58: 0, 60: 1, 61: 0, 65: 0, 66: 1, 67: 0, 68: 0, 69: 0}

_OPENING = """\
# Compatibility

What Ottla speaks, beside two releases of Apache Kafka: 2.0.0, the oldest it is compared with, and
3.9.1, of the last line that runs with ZooKeeper. `ottla protocol compatibility` prints this page,
and `make compatibility` rewrites it. A test fails when it is not current.

## APIs

- *serves*: the versions that Ottla's broker advertises and answers; - for none yet.
- *speaks*: the versions that the codec reads and writes, requests and responses alike. The tools
  use them with other brokers, and `ottla protocol decode` reads them.
- *flexible*: the first version with compact lengths and tagged fields (KIP-482).
- *2.0.0*, *3.9.1*: what a broker of that release advertises; 3.9.1 with ZooKeeper.

"""

_REST = """
## Records

| what | read | written |
|---|---|---|
| message sets, magic 0 | yes | yes |
| message sets, magic 1, with timestamps | yes | yes |
| record batches, magic 2 (KIP-98) | yes | yes |
| gzip | yes | yes |
| snappy | in xerial's blocks, or raw | in xerial's blocks |
| lz4 | also with the header checksum that magic 0 gets wrong | as the magic wants it |
| zstd (KIP-110) | yes | yes, in magic 2 |

## Records inside internal topics and messages

| where | what |
|---|---|
| `__consumer_offsets` | committed offsets, group metadata, the groups of KIP-848 |
| `__transaction_state` | the state of transactional ids |
| control batches | transaction markers, and the control records of KRaft |
| JoinGroup, SyncGroup | the consumers' subscriptions and assignments |
| Envelope | the principal of a forwarded request |

## Where the broker means to answer otherwise

About 2,000 requests are put to Ottla and compared with what Kafka 3.9.1 answered to them. The list
of differences that are meant, each with its reason, is `tests/differential/intended.py`; any other
difference fails the tests. One is of time: a fetch that waits for more is answered when another
request comes behind it over its connection, which would have to wait as long.

## Security and features

SASL, ACLs and delegation tokens are answered as 3.9.1 answers where no security is configured.
SCRAM credentials are kept in the metadata store as 3.9.1 keeps them, and no login uses them yet.
Of feature flags there is none, as in 3.9.1 with ZooKeeper: every change of one is refused.

## Knowingly left out

- What the broker does not serve yet, it does not advertise: groups of KIP-848 (68, 69), and what
  only several brokers ask each other (56, 58).
- The second version of transactions, from the second part of KIP-890: it came with 4.0.
- Share groups (76-79, 83-87): 3.9.1 hides these APIs, since they are unstable. Their messages
  are declared as 3.9.1 has them, to be read where they turn up; a later release changed them.
- Versions and APIs that came with 4.0 or later: none is declared. A client of 4.x agrees with the
  broker on an older version.
- The APIs of KRaft's quorum and controllers (52-55, 59, 62-64, 70, 73, 80-82): their messages are
  declared; a broker with ZooKeeper advertises none of them.
- Client telemetry and what else only a KRaft broker answers (71, 72, 74, 75): likewise.
"""


def compatibility_page() -> str:
    return _OPENING + "\n".join(_table()) + "\n" + _REST


def _table() -> Iterator[str]:
    yield "| key | API | serves | speaks | flexible | 2.0.0 | 3.9.1 |"
    yield "|---:|---|---|---|---|---|---|"
    for api in all_apis():
        cells = (
            str(api.key),
            api.name,
            version_range(*HANDLERS[api.key]) if api.key in HANDLERS else "-",
            api.versions,
            "-" if api.flexible_from is None else f"{api.flexible_from}",
            _advertised(_KAFKA_2_0_0, api),
            _advertised(_KAFKA_3_9_1, api),
        )
        yield f"| {' | '.join(cells)} |"


def _advertised(newest: dict[int, int], api: Api) -> str:
    return version_range(0, newest[api.key]) if api.key in newest else "-"
