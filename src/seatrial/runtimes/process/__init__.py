"""The runtime for evaluation: an engine installed in an environment of its own, as a process of this machine."""
