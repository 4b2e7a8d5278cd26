"""Take over what other programs left: their folders and files, whole, without changing them.

`systems.recognise` says what is at a path, as a `DataSurvey` of each system that knows it; that system's
`adopt` takes it over and reports what became of it. `system` has the types of this. Coins come in through
`coins` and `three_tiers`, texts of the memory through `chroma_texts`, `conversations`,
`documents`, `memory_files` and `transcripts`.
"""
