"""The log tools, on logs written for the purpose."""
