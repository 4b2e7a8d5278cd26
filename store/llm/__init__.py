"""Language models: `client` asks them, by litellm; `prompts` are what they are asked."""
