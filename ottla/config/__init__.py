"""Every option of brokers and topics, declared once: its name, type, default, limits, meaning."""
