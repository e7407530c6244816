"""The client to an OpenAI-compatible server, and the record of what was asked and answered."""
