"""What somebody wrote by hand: a Compose file or a command line, read into a `Launch`."""
