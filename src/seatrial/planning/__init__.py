"""Stack and facts become a plan: settings with reasons, and findings. Pure."""
