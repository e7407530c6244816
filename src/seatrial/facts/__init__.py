"""What is true: about a host, about a checkpoint. Types, and what reads them."""
