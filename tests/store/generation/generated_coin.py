"""The coin that a language model answers with."""

MODEL = "openai/gpt-4o-mini"
COIN = {
    "name": "Rain Frog",
    "ticker": "$rain",
    "description": "Sits in the rain.",
    "entity": "a frog in the rain",
    "context": "patience",
    "visual": "",
    "emotions": "calm",
    "tags": ["frog", "rain"],
    "image_prompt": "a frog, rain, pixel art",
}
