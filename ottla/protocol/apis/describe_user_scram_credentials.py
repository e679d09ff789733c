"""DescribeUserScramCredentials (50): which SCRAM credentials users have."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, message


class UserName(Struct):
    name: str


@message(key=50, newest=0, flexible_from=0)
class DescribeUserScramCredentialsRequest(Message):
    users: list[UserName] | None


class CredentialInfo(Struct):
    mechanism: Int8
    iterations: Int32


class DescribeUserScramCredentialsResult(Struct):
    user: str
    error_code: Int16 = 0
    error_message: str | None
    credential_infos: list[CredentialInfo]


@message(key=50, newest=0, flexible_from=0)
class DescribeUserScramCredentialsResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]
