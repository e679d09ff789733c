"""What can go wrong on the wire: Kafka's error codes, a refusal, bytes that break the protocol."""

from __future__ import annotations

from enum import IntEnum

RETRIABLE = True


class ErrorCode(IntEnum):
    """Kafka's error codes; `retriable` tells whether a client should simply try again."""

    retriable: bool
    meaning: str

    # The default lets type checkers see that `ErrorCode(41)`, a look-up, takes the number alone.
    def __new__(cls, code: int, meaning: str = "", retriable: bool = False) -> ErrorCode:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        member.retriable = retriable
        return member

    UNKNOWN_SERVER_ERROR = -1, "The broker failed in a way it has no code for; its log says more."
    NONE = 0, "No error."
    OFFSET_OUT_OF_RANGE = 1, "The offset is before the log's start or past its end."
    CORRUPT_MESSAGE = 2, "A checksum, size or format in the records is wrong.", RETRIABLE
    UNKNOWN_TOPIC_OR_PARTITION = 3, "This broker does not know the topic or partition.", RETRIABLE
    INVALID_FETCH_SIZE = 4, "The fetch asks for an impossible number of bytes."
    LEADER_NOT_AVAILABLE = 5, "The partition has no leader just now.", RETRIABLE
    NOT_LEADER_OR_FOLLOWER = 6, "This broker neither leads nor follows the partition.", RETRIABLE
    REQUEST_TIMED_OUT = 7, "The request was not done within its time limit.", RETRIABLE
    BROKER_NOT_AVAILABLE = 8, "The broker is not up."
    REPLICA_NOT_AVAILABLE = 9, "A replica of the partition is not up.", RETRIABLE
    MESSAGE_TOO_LARGE = 10, "A batch is larger than the topic's max.message.bytes."
    STALE_CONTROLLER_EPOCH = 11, "A newer controller has been elected since."
    OFFSET_METADATA_TOO_LARGE = 12, "The metadata beside a committed offset is too long."
    NETWORK_EXCEPTION = 13, "The connection closed before the answer came.", RETRIABLE
    COORDINATOR_LOAD_IN_PROGRESS = 14, "The coordinator is still reading its log.", RETRIABLE
    COORDINATOR_NOT_AVAILABLE = 15, "There is no coordinator just now.", RETRIABLE
    NOT_COORDINATOR = 16, "Another broker coordinates this group or transaction.", RETRIABLE
    INVALID_TOPIC_EXCEPTION = 17, "The topic's name is not allowed."
    RECORD_LIST_TOO_LARGE = 18, "The batches of one append exceed a segment's size."
    NOT_ENOUGH_REPLICAS = 19, "Fewer in-sync replicas than min.insync.replicas.", RETRIABLE
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (
        20,
        "Appended, but meanwhile fewer in-sync replicas than min.insync.replicas.",
        RETRIABLE,
    )
    INVALID_REQUIRED_ACKS = 21, "acks must be -1, 0 or 1."
    ILLEGAL_GENERATION = 22, "The member speaks of another generation of the group."
    INCONSISTENT_GROUP_PROTOCOL = 23, "The member shares no protocol with the group."
    INVALID_GROUP_ID = 24, "The group id is not allowed."
    UNKNOWN_MEMBER_ID = 25, "The group has no such member."
    INVALID_SESSION_TIMEOUT = 26, "The session timeout is outside the broker's limits."
    REBALANCE_IN_PROGRESS = 27, "The group is rebalancing; the member must rejoin."
    INVALID_COMMIT_OFFSET_SIZE = 28, "The committed offsets do not fit into one batch."
    TOPIC_AUTHORIZATION_FAILED = 29, "The principal may not do this to the topic."
    GROUP_AUTHORIZATION_FAILED = 30, "The principal may not do this to the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, "The principal may not do this to the cluster."
    INVALID_TIMESTAMP = 32, "A record's timestamp is too far from the broker's clock."
    UNSUPPORTED_SASL_MECHANISM = 33, "The SASL mechanism is not enabled."
    ILLEGAL_SASL_STATE = 34, "This request is not allowed at this point of the login."
    UNSUPPORTED_VERSION = 35, "This version of the request is not supported."
    TOPIC_ALREADY_EXISTS = 36, "A topic of this name exists."
    INVALID_PARTITIONS = 37, "The number of partitions is not possible."
    INVALID_REPLICATION_FACTOR = 38, "The replication factor is not possible with these brokers."
    INVALID_REPLICA_ASSIGNMENT = 39, "The assignment of replicas to brokers is not possible."
    INVALID_CONFIG = 40, "A configuration value is not allowed."
    NOT_CONTROLLER = 41, "Another broker is the controller.", RETRIABLE
    INVALID_REQUEST = 42, "The request contradicts itself or the protocol."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, "The topic's record format is too old for this."
    POLICY_VIOLATION = 44, "The cluster's policy forbids it."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, "A batch of this producer is missing before this one."
    DUPLICATE_SEQUENCE_NUMBER = 46, "This batch was already appended, too long ago to answer."
    INVALID_PRODUCER_EPOCH = 47, "A newer instance of this producer has taken over."
    INVALID_TXN_STATE = 48, "The transaction is not in a state that allows this."
    INVALID_PRODUCER_ID_MAPPING = 49, "The producer id does not belong to the transactional id."
    INVALID_TRANSACTION_TIMEOUT = 50, "The timeout exceeds transaction.max.timeout.ms."
    CONCURRENT_TRANSACTIONS = 51, "The transaction before is still being completed.", RETRIABLE
    TRANSACTION_COORDINATOR_FENCED = 52, "A newer transaction coordinator has taken over."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, "The principal may not use the transactional id."
    SECURITY_DISABLED = 54, "No authorizer is configured."
    OPERATION_NOT_ATTEMPTED = 55, "Not tried, since another part of the request failed."
    KAFKA_STORAGE_ERROR = 56, "The broker's disk failed or is full.", RETRIABLE
    LOG_DIR_NOT_FOUND = 57, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, "The login was refused."
    UNKNOWN_PRODUCER_ID = 59, "All records of this producer are gone, and its state with them."
    REASSIGNMENT_IN_PROGRESS = 60, "The partition is being reassigned."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, "Delegation tokens are not enabled."
    DELEGATION_TOKEN_NOT_FOUND = 62, "There is no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, "The principal neither owns nor may renew the token."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, "Token requests need a SASL or two-way TLS channel."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, "The principal may not do this to the token."
    DELEGATION_TOKEN_EXPIRED = 66, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, "The type of principal is not supported."
    NON_EMPTY_GROUP = 68, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, "The fetch session is not known, or was evicted.", RETRIABLE
    INVALID_FETCH_SESSION_EPOCH = 71, "The fetch session's epoch is not the next one.", RETRIABLE
    LISTENER_NOT_FOUND = 72, "The leader has no listener of this name.", RETRIABLE
    TOPIC_DELETION_DISABLED = 73, "delete.topic.enable is off."
    FENCED_LEADER_EPOCH = 74, "The client's leader epoch is older than the broker's.", RETRIABLE
    UNKNOWN_LEADER_EPOCH = 75, "The client's leader epoch is newer than the broker's.", RETRIABLE
    UNSUPPORTED_COMPRESSION_TYPE = 76, "The version does not allow this compression."
    STALE_BROKER_EPOCH = 77, "The broker has registered anew since."
    OFFSET_NOT_AVAILABLE = 78, "A new leader does not know its high watermark yet.", RETRIABLE
    MEMBER_ID_REQUIRED = 79, "The member must join again with the id it was given."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, "The preferred leader is not up or not in sync.", RETRIABLE
    GROUP_MAX_SIZE_REACHED = 81, "The group has group.max.size members."
    FENCED_INSTANCE_ID = 82, "Another member has taken over this group.instance.id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, "No replica may become leader.", RETRIABLE
    ELECTION_NOT_NEEDED = 84, "The partition already has the wanted leader.", RETRIABLE
    NO_REASSIGNMENT_IN_PROGRESS = 85, "The partition is not being reassigned."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, "The group is subscribed to the topic."
    INVALID_RECORD = 87, "A record breaks a rule of the topic or of the format."
    UNSTABLE_OFFSET_COMMIT = 88, "An open transaction may still change these offsets.", RETRIABLE
    THROTTLING_QUOTA_EXCEEDED = 89, "The quota for such changes is used up.", RETRIABLE
    PRODUCER_FENCED = 90, "A newer producer has the same transactional id."
    RESOURCE_NOT_FOUND = 91, "What the request names does not exist."
    DUPLICATE_RESOURCE = 92, "The request names the same thing twice."
    UNACCEPTABLE_CREDENTIAL = 93, "The credential does not meet the requirements."
    INCONSISTENT_VOTER_SET = 94, "The voters are not those that the quorum knows."
    INVALID_UPDATE_VERSION = 95, "The update speaks of another version."
    FEATURE_UPDATE_FAILED = 96, "The feature could not be updated."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, "The forwarded principal cannot be read."
    SNAPSHOT_NOT_FOUND = 98, "There is no such snapshot."
    POSITION_OUT_OF_RANGE = 99, "The position is outside the snapshot."
    UNKNOWN_TOPIC_ID = 100, "This broker does not know the topic id.", RETRIABLE
    DUPLICATE_BROKER_REGISTRATION = 101, "A living broker has this id."
    BROKER_ID_NOT_REGISTERED = 102, "No broker with this id is registered."
    INCONSISTENT_TOPIC_ID = 103, "The log belongs to another topic id.", RETRIABLE
    INCONSISTENT_CLUSTER_ID = 104, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, "There is no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, "The fetch session mixes names and topic ids.", RETRIABLE
    INELIGIBLE_REPLICA = 107, "The replica may not join the in-sync replicas now."
    NEW_LEADER_ELECTED = 108, "The change was made, and with it a new leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, "The offset lies in tiered storage."
    FENCED_MEMBER_EPOCH = 110, "The coordinator has fenced the member's epoch; it must rejoin."
    UNRELEASED_INSTANCE_ID = 111, "A member of the group still uses this instance id."
    UNSUPPORTED_ASSIGNOR = 112, "The group does not know the assignor."
    STALE_MEMBER_EPOCH = 113, "The member's epoch is old; it must send a heartbeat first."
    MISMATCHED_ENDPOINT_TYPE = 114, "The request reached the wrong type of endpoint."
    UNSUPPORTED_ENDPOINT_TYPE = 115, "This type of endpoint is not supported."
    UNKNOWN_CONTROLLER_ID = 116, "There is no such controller."
    UNKNOWN_SUBSCRIPTION_ID = 117, "The metrics subscription is not current."
    TELEMETRY_TOO_LARGE = 118, "The pushed metrics exceed the broker's limit."
    INVALID_REGISTRATION = 119, "The controller refuses the registration."
    TRANSACTION_ABORTABLE = 120, "The transaction failed; the client must abort it."
    INVALID_RECORD_STATE = 121, "The record's delivery state does not allow this."
    SHARE_SESSION_NOT_FOUND = 122, "The share session is not known.", RETRIABLE
    INVALID_SHARE_SESSION_EPOCH = 123, "The share session's epoch is not the next one.", RETRIABLE
    FENCED_STATE_EPOCH = 124, "The share coordinator has a newer state epoch."
    INVALID_VOTER_KEY = 125, "The voter's id and directory do not match the receiver's."
    DUPLICATE_VOTER = 126, "The voter is already in the quorum."
    VOTER_NOT_FOUND = 127, "The voter is not in the quorum."
    INVALID_REGULAR_EXPRESSION = 128, "The regular expression is not valid."
    REBOOTSTRAP_REQUIRED = 129, "The client must start again from its bootstrap servers."
    STREAMS_INVALID_TOPOLOGY = 130, "The streams topology is not valid."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, "The epoch of the streams topology is not valid."
    STREAMS_TOPOLOGY_FENCED = 132, "The streams topology is older than the group's."
    SHARE_SESSION_LIMIT_REACHED = (
        133,
        "The broker holds as many share sessions as allowed.",
        RETRIABLE,
    )


class KafkaError(Exception):
    """A refusal the client must hear: it becomes an `error_code` in the response."""

    def __init__(self, code: ErrorCode, detail: str = "") -> None:
        super().__init__(f"{code.name}: {detail}" if detail else code.name)
        self.code = code
        self.detail = detail


class InvalidRecords(KafkaError):
    """Records of a batch that break the topic's rules: which, by their place in it, and why."""

    def __init__(self, code: ErrorCode, detail: str, records: list[tuple[int, str]]) -> None:
        super().__init__(code, detail)
        self.records = records


class ProtocolError(KafkaError):
    """Bytes that break the protocol: what was read, at which field and byte, and why it failed.

    `code` is what a client hears where it can hear anything; a request that cannot be parsed at all
    closes its connection instead.
    """

    def __init__(
        self,
        cause: str,
        *,
        reading: str,
        path: str = "",
        offset: int | None = None,
        code: ErrorCode = ErrorCode.INVALID_REQUEST,
    ) -> None:
        where = reading + (f", field {path}" if path else "")
        if offset is not None:
            where += f", byte {offset}"
        super().__init__(code, f"{where}: {cause}")
        self.cause = cause
        self.reading = reading
        self.path = path
        self.offset = offset
