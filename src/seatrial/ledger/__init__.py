"""What was proven about what: append-only, on disk."""
