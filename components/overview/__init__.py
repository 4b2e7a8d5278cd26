"""The start page: counts, inbox, health, model, settings, trash and welcome."""
