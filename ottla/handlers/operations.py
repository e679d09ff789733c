"""What a client may do, as bits of AclOperation: without an authorizer everything."""

ALL_TOPIC_OPERATIONS = 0x0DF8
ALL_CLUSTER_OPERATIONS = 0x1FA0
ALL_GROUP_OPERATIONS = 0x0148
