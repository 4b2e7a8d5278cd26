"""Documents of the text memory, from a file to passages."""
