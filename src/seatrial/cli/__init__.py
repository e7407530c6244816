"""The command line: thin. Parse, call, print; heavy imports stay inside the commands, so that --help is quick."""
