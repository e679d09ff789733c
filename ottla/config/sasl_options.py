"""SASL: the mechanisms and what each needs."""

from __future__ import annotations

from ottla.config.kind import CLASS, DOUBLE, INT, LIST, LONG, PASSWORD, SHORT, STRING
from ottla.config.option import Change, Option
from ottla.config.units import HOUR_MS, KIB, SECOND_MS

SASL_ENABLED_MECHANISMS = Option(
    name="sasl.enabled.mechanisms",
    type=LIST,
    default=("GSSAPI",),
    change=Change.PER_BROKER,
    doc="The mechanisms that clients may use.",
)
SASL_MECHANISM_INTER_BROKER_PROTOCOL = Option(
    name="sasl.mechanism.inter.broker.protocol",
    type=STRING,
    default="GSSAPI",
    change=Change.PER_BROKER,
    doc="The mechanism that brokers use among each other.",
)
SASL_MECHANISM_CONTROLLER_PROTOCOL = Option(
    name="sasl.mechanism.controller.protocol",
    type=STRING,
    default="GSSAPI",
    doc="The mechanism towards KRaft controllers.",
)
SASL_JAAS_CONFIG = Option(
    name="sasl.jaas.config",
    type=PASSWORD,
    default=None,
    change=Change.PER_BROKER,
    doc="The login of a mechanism in JAAS's format.",
)
SASL_SERVER_MAX_RECEIVE_SIZE = Option(
    name="sasl.server.max.receive.size",
    type=INT,
    default=512 * KIB,
    doc="The largest SASL message taken before authentication.",
)
SASL_SERVER_CALLBACK_HANDLER_CLASS = Option(
    name="sasl.server.callback.handler.class",
    type=CLASS,
    default=None,
    doc="A class that answers a mechanism's questions on the server.",
)
SASL_CLIENT_CALLBACK_HANDLER_CLASS = Option(
    name="sasl.client.callback.handler.class",
    type=CLASS,
    default=None,
    doc="The same on the client.",
)
SASL_LOGIN_CALLBACK_HANDLER_CLASS = Option(
    name="sasl.login.callback.handler.class",
    type=CLASS,
    default=None,
    doc="The same for a login.",
)
SASL_LOGIN_CLASS = Option(
    name="sasl.login.class",
    type=CLASS,
    default=None,
    doc="A class that logs in.",
)
SASL_LOGIN_CONNECT_TIMEOUT_MS = Option(
    name="sasl.login.connect.timeout.ms",
    type=INT,
    default=None,
    doc="How long a login's connection may take.",
)
SASL_LOGIN_READ_TIMEOUT_MS = Option(
    name="sasl.login.read.timeout.ms",
    type=INT,
    default=None,
    doc="How long a login may wait for an answer.",
)
SASL_LOGIN_RETRY_BACKOFF_MS = Option(
    name="sasl.login.retry.backoff.ms",
    type=LONG,
    default=100,
    doc="How long a login rests after its first failure.",
)
SASL_LOGIN_RETRY_BACKOFF_MAX_MS = Option(
    name="sasl.login.retry.backoff.max.ms",
    type=LONG,
    default=10 * SECOND_MS,
    doc="How long it rests at most.",
)
SASL_LOGIN_REFRESH_WINDOW_FACTOR = Option(
    name="sasl.login.refresh.window.factor",
    type=DOUBLE,
    default=0.8,
    change=Change.PER_BROKER,
    doc="The share of a credential's life after which it is renewed.",
)
SASL_LOGIN_REFRESH_WINDOW_JITTER = Option(
    name="sasl.login.refresh.window.jitter",
    type=DOUBLE,
    default=0.05,
    change=Change.PER_BROKER,
    doc="Random share added to that.",
)
SASL_LOGIN_REFRESH_MIN_PERIOD_SECONDS = Option(
    name="sasl.login.refresh.min.period.seconds",
    type=SHORT,
    default=60,
    change=Change.PER_BROKER,
    doc="The least time between two renewals.",
)
SASL_LOGIN_REFRESH_BUFFER_SECONDS = Option(
    name="sasl.login.refresh.buffer.seconds",
    type=SHORT,
    default=300,
    change=Change.PER_BROKER,
    doc="How long before its end a credential is renewed at the latest.",
)
SASL_KERBEROS_SERVICE_NAME = Option(
    name="sasl.kerberos.service.name",
    type=STRING,
    default=None,
    change=Change.PER_BROKER,
    doc="The Kerberos name that brokers run under.",
)
SASL_KERBEROS_KINIT_CMD = Option(
    name="sasl.kerberos.kinit.cmd",
    type=STRING,
    default="/usr/bin/kinit",
    change=Change.PER_BROKER,
    doc="The kinit program.",
)
SASL_KERBEROS_TICKET_RENEW_WINDOW_FACTOR = Option(
    name="sasl.kerberos.ticket.renew.window.factor",
    type=DOUBLE,
    default=0.8,
    change=Change.PER_BROKER,
    doc="The share of a ticket's life after which it is renewed.",
)
SASL_KERBEROS_TICKET_RENEW_JITTER = Option(
    name="sasl.kerberos.ticket.renew.jitter",
    type=DOUBLE,
    default=0.05,
    change=Change.PER_BROKER,
    doc="Random share added to that.",
)
SASL_KERBEROS_MIN_TIME_BEFORE_RELOGIN = Option(
    name="sasl.kerberos.min.time.before.relogin",
    type=LONG,
    default=60_000,
    change=Change.PER_BROKER,
    doc="The least time between two logins.",
)
SASL_KERBEROS_PRINCIPAL_TO_LOCAL_RULES = Option(
    name="sasl.kerberos.principal.to.local.rules",
    type=LIST,
    default=("DEFAULT",),
    change=Change.PER_BROKER,
    doc="How a Kerberos name becomes a principal.",
)
SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL = Option(
    name="sasl.oauthbearer.token.endpoint.url",
    type=STRING,
    default=None,
    doc="Where a token is got from.",
)
SASL_OAUTHBEARER_JWKS_ENDPOINT_URL = Option(
    name="sasl.oauthbearer.jwks.endpoint.url",
    type=STRING,
    default=None,
    doc="Where the keys are that tokens are checked with.",
)
SASL_OAUTHBEARER_JWKS_ENDPOINT_REFRESH_MS = Option(
    name="sasl.oauthbearer.jwks.endpoint.refresh.ms",
    type=LONG,
    default=HOUR_MS,
    doc="How often those keys are read again.",
)
SASL_OAUTHBEARER_JWKS_ENDPOINT_RETRY_BACKOFF_MS = Option(
    name="sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    type=LONG,
    default=100,
    doc="How long reading them rests after its first failure.",
)
SASL_OAUTHBEARER_JWKS_ENDPOINT_RETRY_BACKOFF_MAX_MS = Option(
    name="sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    type=LONG,
    default=10 * SECOND_MS,
    doc="How long it rests at most.",
)
SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS = Option(
    name="sasl.oauthbearer.clock.skew.seconds",
    type=INT,
    default=30,
    doc="How far a token's clock may be from ours.",
)
SASL_OAUTHBEARER_EXPECTED_AUDIENCE = Option(
    name="sasl.oauthbearer.expected.audience",
    type=LIST,
    default=None,
    doc="The audiences of which a token must name one.",
)
SASL_OAUTHBEARER_EXPECTED_ISSUER = Option(
    name="sasl.oauthbearer.expected.issuer",
    type=STRING,
    default=None,
    doc="The issuer that a token must name.",
)
SASL_OAUTHBEARER_SCOPE_CLAIM_NAME = Option(
    name="sasl.oauthbearer.scope.claim.name",
    type=STRING,
    default="scope",
    doc="The claim with a token's scope.",
)
SASL_OAUTHBEARER_SUB_CLAIM_NAME = Option(
    name="sasl.oauthbearer.sub.claim.name",
    type=STRING,
    default="sub",
    doc="The claim with a token's subject.",
)
