"""Candidate → proof → promotion, or roll-back to the last proven stack. Safe to kill at any step."""
