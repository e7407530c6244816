"""The folder of one run, and what keeps secrets out of it."""
