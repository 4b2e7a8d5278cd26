"""The pages about captions: choose a coin, check up, replace, draft and import."""
