"""Helpers of the tests: tokenizers, samples, cuts into deltas, folded events."""
