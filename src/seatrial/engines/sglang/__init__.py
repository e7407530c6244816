"""What seatrial knows about SGLang: flags of each version, rules, memory arithmetic, log lines."""
