"""The library of memecoins and everything about it that is not a web page."""
