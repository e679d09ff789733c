"""The way to ZooKeeper, and how secrets are kept there."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LIST, PASSWORD, STRING
from ottla.config.option import Computed, Option
from ottla.config.units import KIB, SECOND_MS

ZOOKEEPER_CONNECT = Option(
    name="zookeeper.connect",
    type=STRING,
    default=None,
    doc="The ensemble: host:port, comma separated, and a path; without it the store is embedded.",
)
ZOOKEEPER_SESSION_TIMEOUT_MS = Option(
    name="zookeeper.session.timeout.ms",
    type=INT,
    default=18 * SECOND_MS,
    doc="How long ZooKeeper believes a silent broker.",
)
ZOOKEEPER_CONNECTION_TIMEOUT_MS: Option[int] = Option(
    name="zookeeper.connection.timeout.ms",
    type=INT,
    default=Computed(lambda config: config[ZOOKEEPER_SESSION_TIMEOUT_MS]),
    doc="How long the first connection may take; the session's timeout by default.",
)
ZOOKEEPER_MAX_IN_FLIGHT_REQUESTS = Option(
    name="zookeeper.max.in.flight.requests",
    type=INT,
    default=10,
    at_least=1,
    doc="Requests that may be on their way to ZooKeeper.",
)
ZOOKEEPER_SET_ACL = Option(
    name="zookeeper.set.acl",
    type=BOOLEAN,
    default=False,
    doc="Whether znodes are closed to everyone but brokers.",
)
ZOOKEEPER_CLIENTCNXNSOCKET = Option(
    name="zookeeper.clientCnxnSocket",
    type=STRING,
    default=None,
    doc="The class of Java's client that connects; needed there for TLS.",
)
ZOOKEEPER_SSL_CLIENT_ENABLE = Option(
    name="zookeeper.ssl.client.enable",
    type=BOOLEAN,
    default=False,
    doc="Whether ZooKeeper is spoken to by TLS.",
)
ZOOKEEPER_SSL_PROTOCOL = Option(
    name="zookeeper.ssl.protocol",
    type=STRING,
    default="TLSv1.2",
    doc="The TLS version towards ZooKeeper.",
)
ZOOKEEPER_SSL_ENABLED_PROTOCOLS = Option(
    name="zookeeper.ssl.enabled.protocols",
    type=LIST,
    default=None,
    doc="The TLS versions that may be agreed on.",
)
ZOOKEEPER_SSL_CIPHER_SUITES = Option(
    name="zookeeper.ssl.cipher.suites",
    type=LIST,
    default=None,
    doc="The cipher suites that may be agreed on.",
)
ZOOKEEPER_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM = Option(
    name="zookeeper.ssl.endpoint.identification.algorithm",
    type=STRING,
    default="HTTPS",
    doc="How ZooKeeper's host name is checked; empty for not at all.",
)
ZOOKEEPER_SSL_KEYSTORE_LOCATION = Option(
    name="zookeeper.ssl.keystore.location",
    type=STRING,
    default=None,
    doc="The file with our key and certificate for ZooKeeper.",
)
ZOOKEEPER_SSL_KEYSTORE_PASSWORD = Option(
    name="zookeeper.ssl.keystore.password",
    type=PASSWORD,
    default=None,
    doc="That file's password.",
)
ZOOKEEPER_SSL_KEYSTORE_TYPE = Option(
    name="zookeeper.ssl.keystore.type",
    type=STRING,
    default=None,
    doc="That file's format.",
)
ZOOKEEPER_SSL_TRUSTSTORE_LOCATION = Option(
    name="zookeeper.ssl.truststore.location",
    type=STRING,
    default=None,
    doc="The file with the certificates that ZooKeeper's is checked against.",
)
ZOOKEEPER_SSL_TRUSTSTORE_PASSWORD = Option(
    name="zookeeper.ssl.truststore.password",
    type=PASSWORD,
    default=None,
    doc="That file's password.",
)
ZOOKEEPER_SSL_TRUSTSTORE_TYPE = Option(
    name="zookeeper.ssl.truststore.type",
    type=STRING,
    default=None,
    doc="That file's format.",
)
ZOOKEEPER_SSL_CRL_ENABLE = Option(
    name="zookeeper.ssl.crl.enable",
    type=BOOLEAN,
    default=False,
    doc="Whether revocation lists are looked up.",
)
ZOOKEEPER_SSL_OCSP_ENABLE = Option(
    name="zookeeper.ssl.ocsp.enable",
    type=BOOLEAN,
    default=False,
    doc="Whether revocation is asked for by OCSP.",
)
ZOOKEEPER_METADATA_MIGRATION_ENABLE = Option(
    name="zookeeper.metadata.migration.enable",
    type=BOOLEAN,
    default=False,
    doc="Whether the cluster is moving to KRaft.",
)
ZOOKEEPER_METADATA_MIGRATION_MIN_BATCH_SIZE = Option(
    name="zookeeper.metadata.migration.min.batch.size",
    type=INT,
    default=200,
    at_least=1,
    internal=True,
    doc="Records of one step of that move.",
)
PASSWORD_ENCODER_SECRET = Option(
    name="password.encoder.secret",
    type=PASSWORD,
    default=None,
    doc="The key that encrypts secrets in the store.",
)
PASSWORD_ENCODER_OLD_SECRET = Option(
    name="password.encoder.old.secret",
    type=PASSWORD,
    default=None,
    doc="The key before, while it is being replaced.",
)
PASSWORD_ENCODER_KEYFACTORY_ALGORITHM = Option(
    name="password.encoder.keyfactory.algorithm",
    type=STRING,
    default=None,
    doc="How the key is derived; PBKDF2 with SHA-512 or SHA-1 by default.",
)
PASSWORD_ENCODER_CIPHER_ALGORITHM = Option(
    name="password.encoder.cipher.algorithm",
    type=STRING,
    default="AES/CBC/PKCS5Padding",
    doc="The cipher that encrypts secrets.",
)
PASSWORD_ENCODER_KEY_LENGTH = Option(
    name="password.encoder.key.length",
    type=INT,
    default=128,
    at_least=8,
    doc="The length of the derived key in bits.",
)
PASSWORD_ENCODER_ITERATIONS = Option(
    name="password.encoder.iterations",
    type=INT,
    default=4 * KIB,
    at_least=1 * KIB,
    doc="Rounds of the derivation.",
)
