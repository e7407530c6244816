"""The stack file: what the user wants."""
