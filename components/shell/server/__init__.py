"""What the server answers, logs and refuses; no page draws with it, and it draws nothing but an error."""
