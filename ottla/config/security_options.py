"""Who may do what: authorization, principals, delegation tokens and TLS."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, CLASS, LIST, LONG, PASSWORD, STRING, Password
from ottla.config.option import Change, Computed, Option
from ottla.config.units import DAY_MS, HOUR_MS

AUTHORIZER_CLASS_NAME = Option(
    name="authorizer.class.name",
    type=STRING,
    default="",
    doc="The class that authorizes; empty lets everyone do everything.",
)
PRINCIPAL_BUILDER_CLASS = Option(
    name="principal.builder.class",
    type=CLASS,
    default="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
    change=Change.PER_BROKER,
    doc="The class that tells who a connection is.",
)
SECURITY_PROVIDERS = Option(
    name="security.providers",
    type=STRING,
    default=None,
    doc="Classes of Java's security providers.",
)
DELEGATION_TOKEN_SECRET_KEY: Option[Password | None] = Option(
    name="delegation.token.secret.key",
    type=PASSWORD,
    default=Computed(lambda config: config[DELEGATION_TOKEN_MASTER_KEY]),
    doc="The key that delegation tokens are made with.",
)
DELEGATION_TOKEN_MASTER_KEY: Option[Password | None] = Option(
    name="delegation.token.master.key",
    type=PASSWORD,
    default=None,
    doc="The same by its old name.",
)
DELEGATION_TOKEN_MAX_LIFETIME_MS = Option(
    name="delegation.token.max.lifetime.ms",
    type=LONG,
    default=7 * DAY_MS,
    at_least=1,
    doc="How long a token can be renewed at most.",
)
DELEGATION_TOKEN_EXPIRY_TIME_MS = Option(
    name="delegation.token.expiry.time.ms",
    type=LONG,
    default=DAY_MS,
    at_least=1,
    doc="How long a token lives before it must be renewed.",
)
DELEGATION_TOKEN_EXPIRY_CHECK_INTERVAL_MS = Option(
    name="delegation.token.expiry.check.interval.ms",
    type=LONG,
    default=HOUR_MS,
    at_least=1,
    doc="How often expired tokens are looked for.",
)
SSL_CLIENT_AUTH = Option(
    name="ssl.client.auth",
    type=STRING,
    default="none",
    one_of=("required", "requested", "none"),
    change=Change.PER_BROKER,
    doc="Whether clients must show a certificate.",
)
SSL_PROTOCOL = Option(
    name="ssl.protocol",
    type=STRING,
    default="TLSv1.3",
    change=Change.PER_BROKER,
    doc="The TLS version that is preferred.",
)
SSL_ENABLED_PROTOCOLS = Option(
    name="ssl.enabled.protocols",
    type=LIST,
    default=("TLSv1.2", "TLSv1.3"),
    change=Change.PER_BROKER,
    doc="The TLS versions that may be agreed on.",
)
SSL_CIPHER_SUITES = Option(
    name="ssl.cipher.suites",
    type=LIST,
    default=(),
    change=Change.PER_BROKER,
    doc="The cipher suites that may be agreed on; empty for all.",
)
SSL_PROVIDER = Option(
    name="ssl.provider",
    type=STRING,
    default=None,
    change=Change.PER_BROKER,
    doc="The Java provider of TLS.",
)
SSL_ENGINE_FACTORY_CLASS = Option(
    name="ssl.engine.factory.class",
    type=CLASS,
    default=None,
    change=Change.PER_BROKER,
    doc="A class that makes TLS engines.",
)
SSL_ENDPOINT_IDENTIFICATION_ALGORITHM = Option(
    name="ssl.endpoint.identification.algorithm",
    type=STRING,
    default="https",
    change=Change.PER_BROKER,
    doc="How a server's host name is checked; empty for not at all.",
)
SSL_PRINCIPAL_MAPPING_RULES = Option(
    name="ssl.principal.mapping.rules",
    type=STRING,
    default="DEFAULT",
    doc="How a certificate's name becomes a principal.",
)
SSL_ALLOW_DN_CHANGES = Option(
    name="ssl.allow.dn.changes",
    type=BOOLEAN,
    default=False,
    doc="Whether a new certificate may have another distinguished name.",
)
SSL_ALLOW_SAN_CHANGES = Option(
    name="ssl.allow.san.changes",
    type=BOOLEAN,
    default=False,
    doc="Whether a new certificate may lack alternative names of the old.",
)
SSL_KEY_PASSWORD = Option(
    name="ssl.key.password",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="The password of the private key.",
)
SSL_KEYSTORE_LOCATION = Option(
    name="ssl.keystore.location",
    type=STRING,
    default=None,
    change=Change.PER_BROKER,
    doc="The file with our key and certificate.",
)
SSL_KEYSTORE_PASSWORD = Option(
    name="ssl.keystore.password",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="That file's password.",
)
SSL_KEYSTORE_TYPE = Option(
    name="ssl.keystore.type",
    type=STRING,
    default="JKS",
    change=Change.PER_BROKER,
    doc="That file's format: JKS, PKCS12 or PEM.",
)
SSL_KEYSTORE_KEY = Option(
    name="ssl.keystore.key",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="Our private key itself, as PEM.",
)
SSL_KEYSTORE_CERTIFICATE_CHAIN = Option(
    name="ssl.keystore.certificate.chain",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="Our certificates themselves, as PEM.",
)
SSL_TRUSTSTORE_LOCATION = Option(
    name="ssl.truststore.location",
    type=STRING,
    default=None,
    change=Change.PER_BROKER,
    doc="The file with the certificates that clients' are checked against.",
)
SSL_TRUSTSTORE_PASSWORD = Option(
    name="ssl.truststore.password",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="That file's password.",
)
SSL_TRUSTSTORE_TYPE = Option(
    name="ssl.truststore.type",
    type=STRING,
    default="JKS",
    change=Change.PER_BROKER,
    doc="That file's format: JKS, PKCS12 or PEM.",
)
SSL_TRUSTSTORE_CERTIFICATES = Option(
    name="ssl.truststore.certificates",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="Those certificates themselves, as PEM.",
)
SSL_KEYMANAGER_ALGORITHM = Option(
    name="ssl.keymanager.algorithm",
    type=STRING,
    default="SunX509",
    change=Change.PER_BROKER,
    doc="How Java chooses among keys.",
)
SSL_TRUSTMANAGER_ALGORITHM = Option(
    name="ssl.trustmanager.algorithm",
    type=STRING,
    default="PKIX",
    change=Change.PER_BROKER,
    doc="How Java checks certificates.",
)
SSL_SECURE_RANDOM_IMPLEMENTATION = Option(
    name="ssl.secure.random.implementation",
    type=STRING,
    default=None,
    change=Change.PER_BROKER,
    doc="Java's source of random numbers for TLS.",
)
