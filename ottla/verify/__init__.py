"""What producers and consumers did, written down, and whether a cluster kept its promises in it."""
