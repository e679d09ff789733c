"""The cluster's truth: a small tree of versioned nodes, embedded or in ZooKeeper."""
