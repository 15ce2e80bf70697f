"""Adapters that put the parsers into servers: one package a server, each importing its server lazily."""
