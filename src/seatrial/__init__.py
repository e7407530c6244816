"""Launch a self-hosted LLM server, and prove that it answers correctly before anyone relies on it."""

__version__ = "0.1.0"
