"""Rules about coins: what a person would decide again and again, written once.

rule        the value: which coins, what is done, how far it may go by itself; as a sentence, JSON and YAML
matching    the coins that a rule means now, and where rules meet
past        the coins as they were when people decided about them
preview     what a rule would do, beside what people decided
keeping     the job that keeps one coin of a pair, with what the other knew
running     a run: one decision, by a person or by the rule itself
copilot     the co-pilot, which acts as a rule does; `learning` is its arithmetic, `signals` what it looks at
second_opinions  decisions asked again of another person, and how alike people decide
waves       many coins of one family that arrived within an hour
"""

__all__ = [
    "copilot",
    "families",
    "keeping",
    "matching",
    "preview",
    "rule",
    "running",
    "second_opinions",
    "waves",
]
