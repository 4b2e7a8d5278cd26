"""What programs find in the library's pictures: text, and what is unfit for the screen."""
