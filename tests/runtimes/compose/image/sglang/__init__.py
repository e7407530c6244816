"""Stands in for SGLang inside the test image: its command line and its log, the test kit's server behind them."""
