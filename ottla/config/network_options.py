"""Listeners, connections and requests: what a broker listens on and how much it takes in."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LONG, STRING
from ottla.config.option import Change, Computed, Option
from ottla.config.units import INT_MAX, KIB, MIB, MINUTE_MS, SECOND_MS
from ottla.config.validators import counts_by_host

LISTENERS = Option(
    name="listeners",
    type=STRING,
    default="PLAINTEXT://:9092",
    change=Change.PER_BROKER,
    doc="Where the broker listens: NAME://host:port, comma separated; no host is every interface.",
)
ADVERTISED_LISTENERS: Option[str] = Option(
    name="advertised.listeners",
    type=STRING,
    default=Computed(lambda config: config[LISTENERS]),
    change=Change.PER_BROKER,
    doc="What clients are told to connect to, where that differs from listeners.",
)
LISTENER_SECURITY_PROTOCOL_MAP = Option(
    name="listener.security.protocol.map",
    type=STRING,
    default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
    change=Change.PER_BROKER,
    doc="Which security protocol each listener name speaks.",
)
INTER_BROKER_LISTENER_NAME: Option[str] = Option(
    name="inter.broker.listener.name",
    type=STRING,
    default=Computed(lambda config: config[SECURITY_INTER_BROKER_PROTOCOL]),
    doc="The listener that brokers reach each other by.",
)
SECURITY_INTER_BROKER_PROTOCOL: Option[str] = Option(
    name="security.inter.broker.protocol",
    type=STRING,
    default="PLAINTEXT",
    one_of=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    doc="The security protocol between brokers, when no listener is named for them.",
)
CONTROL_PLANE_LISTENER_NAME = Option(
    name="control.plane.listener.name",
    type=STRING,
    default=None,
    doc="A listener of its own for the controller's requests to brokers.",
)
CONTROLLER_LISTENER_NAMES = Option(
    name="controller.listener.names",
    type=STRING,
    default=None,
    doc="Listeners of KRaft controllers; none exist here.",
)
EARLY_START_LISTENERS = Option(
    name="early.start.listeners",
    type=STRING,
    default=None,
    doc="Listeners that open before authorization is ready.",
)
NUM_NETWORK_THREADS = Option(
    name="num.network.threads",
    type=INT,
    default=3,
    at_least=1,
    change=Change.LIVE,
    doc="Kafka's threads that read and write sockets; one loop does that here.",
)
NUM_IO_THREADS = Option(
    name="num.io.threads",
    type=INT,
    default=8,
    at_least=1,
    change=Change.LIVE,
    doc="Kafka's threads that handle requests; one loop does that here.",
)
QUEUED_MAX_REQUESTS = Option(
    name="queued.max.requests",
    type=INT,
    default=500,
    at_least=1,
    doc="Requests that may wait in Kafka before it stops reading; here none waits in a queue.",
)
QUEUED_MAX_REQUEST_BYTES = Option(
    name="queued.max.request.bytes",
    type=LONG,
    default=-1,
    doc="Bytes of requests that may wait before the broker stops reading; -1 for no limit.",
)
SOCKET_SEND_BUFFER_BYTES = Option(
    name="socket.send.buffer.bytes",
    type=INT,
    default=100 * KIB,
    doc="The socket's SO_SNDBUF; -1 leaves it to the system.",
)
SOCKET_RECEIVE_BUFFER_BYTES = Option(
    name="socket.receive.buffer.bytes",
    type=INT,
    default=100 * KIB,
    doc="The socket's SO_RCVBUF; -1 leaves it to the system.",
)
SOCKET_REQUEST_MAX_BYTES = Option(
    name="socket.request.max.bytes",
    type=INT,
    default=100 * MIB,
    at_least=1,
    doc="The largest request that is taken.",
)
SOCKET_LISTEN_BACKLOG_SIZE = Option(
    name="socket.listen.backlog.size",
    type=INT,
    default=50,
    at_least=1,
    doc="Connections that may wait to be accepted; at least 4,096 may, as far as the system lets.",
)
SOCKET_CONNECTION_SETUP_TIMEOUT_MS = Option(
    name="socket.connection.setup.timeout.ms",
    type=LONG,
    default=10 * SECOND_MS,
    doc="How long a connection to another broker may take at first.",
)
SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS = Option(
    name="socket.connection.setup.timeout.max.ms",
    type=LONG,
    default=30 * SECOND_MS,
    doc="How long it may take after repeated failures.",
)
MAX_CONNECTIONS = Option(
    name="max.connections",
    type=INT,
    default=INT_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Connections the broker holds at most.",
)
MAX_CONNECTIONS_PER_IP = Option(
    name="max.connections.per.ip",
    type=INT,
    default=INT_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Connections from one address at most.",
)
MAX_CONNECTIONS_PER_IP_OVERRIDES = Option(
    name="max.connections.per.ip.overrides",
    type=STRING,
    default="",
    validator=counts_by_host,
    change=Change.LIVE,
    doc="Other limits for some addresses: host:count, comma separated.",
)
MAX_CONNECTION_CREATION_RATE = Option(
    name="max.connection.creation.rate",
    type=INT,
    default=INT_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="New connections a second at most.",
)
CONNECTIONS_MAX_IDLE_MS = Option(
    name="connections.max.idle.ms",
    type=LONG,
    default=10 * MINUTE_MS,
    doc="An idle connection is closed after this time.",
)
CONNECTION_FAILED_AUTHENTICATION_DELAY_MS = Option(
    name="connection.failed.authentication.delay.ms",
    type=INT,
    default=100,
    at_least=0,
    doc="How long a failed authentication's answer is held back.",
)
CONNECTIONS_MAX_REAUTH_MS = Option(
    name="connections.max.reauth.ms",
    type=LONG,
    default=0,
    doc="A SASL session must authenticate again within this time; 0 for never.",
)
REQUEST_TIMEOUT_MS = Option(
    name="request.timeout.ms",
    type=INT,
    default=30 * SECOND_MS,
    doc="How long the broker waits for an answer to a request of its own.",
)
MAX_REQUEST_PARTITION_SIZE_LIMIT = Option(
    name="max.request.partition.size.limit",
    type=INT,
    default=2000,
    at_least=1,
    doc="Partitions that one request for descriptions may name.",
)
UNSTABLE_API_VERSIONS_ENABLE = Option(
    name="unstable.api.versions.enable",
    type=BOOLEAN,
    default=False,
    internal=True,
    doc="Offers versions of requests that are not final yet.",
)
UNSTABLE_FEATURE_VERSIONS_ENABLE = Option(
    name="unstable.feature.versions.enable",
    type=BOOLEAN,
    default=False,
    internal=True,
    doc="Offers features that are not final yet.",
)
