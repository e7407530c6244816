"""How fast an endpoint answers, measured so that the numbers can be trusted."""
