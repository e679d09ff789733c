"""Transactional producers and their readers on a whole simulated broker, judged by the checker."""
