"""The host: preflight checks, accounts and permissions, first-time set-up."""
