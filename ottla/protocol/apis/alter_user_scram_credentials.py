"""AlterUserScramCredentials (51): sets or deletes SCRAM credentials."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class ScramCredentialDeletion(Struct):
    name: str
    mechanism: Int8


class ScramCredentialUpsertion(Struct):
    name: str
    mechanism: Int8
    iterations: Int32
    salt: bytes
    salted_password: bytes


@message(key=51, newest=0, flexible_from=0)
class AlterUserScramCredentialsRequest(Message):
    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]


class AlterUserScramCredentialsResult(Struct):
    user: str
    error_code: Int16 = 0
    error_message: str | None


@message(key=51, newest=0, flexible_from=0)
class AlterUserScramCredentialsResponse(Message):
    throttle_time_ms: Int32 = 0
    results: list[AlterUserScramCredentialsResult]
