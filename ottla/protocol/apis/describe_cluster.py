"""DescribeCluster (60): the cluster id, the controller and the brokers."""

from ottla.protocol.primitives import Int8, Int16, Int32
from ottla.protocol.schema import Message, Struct, field, message


@message(key=60, newest=1, flexible_from=0)
class DescribeClusterRequest(Message):
    include_cluster_authorized_operations: bool
    endpoint_type: Int8 = field(since=1, default=1)


class DescribeClusterBroker(Struct):
    broker_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(key=60, newest=1, flexible_from=0)
class DescribeClusterResponse(Message):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    endpoint_type: Int8 = field(since=1, default=1)
    cluster_id: str
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = -(2**31)
