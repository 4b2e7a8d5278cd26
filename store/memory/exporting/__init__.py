"""Export the text memory in the layouts of other programs, so that they can read it again."""
