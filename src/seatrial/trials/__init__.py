"""Trials: what a server is asked, and what must be true of its answers. One file a trial."""
