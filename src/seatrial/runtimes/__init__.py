"""What starts a server: one interface, one file an implementation."""
