"""Take over what other programs left: their folders and files, whole, without changing them."""
