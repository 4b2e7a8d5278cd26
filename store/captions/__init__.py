"""How captions come to be: drafts of people, suggestions of models, revisions, and looking through many."""
