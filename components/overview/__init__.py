"""The start page; model and system status for Settings."""
