"""What programs find in the library's pictures: the text that stands in them."""
