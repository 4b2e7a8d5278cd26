"""Systems whose texts go into the text memory."""
