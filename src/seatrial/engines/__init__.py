"""What seatrial knows about each engine."""
