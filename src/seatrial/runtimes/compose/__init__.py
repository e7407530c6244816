"""The production runtime: a Compose file written from the plan, and real Docker."""
