"""What people look at: the terminal's tables, and one self-contained HTML page a run."""
