"""The classic group protocol: who is a member, which generation it is, who owns what."""
