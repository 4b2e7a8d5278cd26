"""Captions by a language model: planned, requested, validated and accepted."""
