"""Language models: the client, the prompts, and waiting after failures."""
