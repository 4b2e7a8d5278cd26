"""The verbs of the text memory that page, Python, command line and agents share, under the same names."""
