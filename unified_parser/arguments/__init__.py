"""Argument syntaxes: how values are written, each read into JSON text as it comes."""
