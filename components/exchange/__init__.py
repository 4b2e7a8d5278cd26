"""Import coins and export them."""
