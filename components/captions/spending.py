"""The cost of drafting by day and by model."""

from typing import TYPE_CHECKING

import streamlit as st

from components.shell import format
from components.shell.page import charts, tables
from store import Library
from store.reading import statistics

if TYPE_CHECKING:
    import pandas as pd


def show(library: Library) -> None:
    """Costs by day, and by model with their tokens."""
    import pandas as pd

    st.header("Spending", anchor=False)
    spent = pd.DataFrame(statistics.spending(library), columns=statistics.Spending._fields)
    if spent.empty:
        st.caption(
            "No language model was asked for drafts yet. What drafting costs is shown here by day and model."
        )
        return
    models = by_model(spent)
    if (priced := spent.dropna(subset="cost")).empty:
        st.caption("No price is known for these models, so only their tokens are counted.")
    else:
        st.caption(f"Spent per day (UTC), {format.dollars(priced['cost'].sum())} in all")
        figure = charts.days(
            priced.rename(columns={"model": "kind", "cost": "value"}),
            title="US dollars",
            money=True,
            colors=charts.in_colors(models["model"]),
        )
        charts.show(figure, key="spending-by-day", alt="US dollars spent per day, by model")
    tables.show(
        models,
        alt="Tokens and US dollars by model",
        placeholder="unknown",
        columns={
            "model": "Model",
            "prompt_tokens": st.column_config.NumberColumn("Tokens read", format="localized"),
            "completion_tokens": st.column_config.NumberColumn("Tokens written", format="localized"),
            "cost": st.column_config.NumberColumn("US dollars", format="$%.4f"),
        },
    )


def by_model(spent: "pd.DataFrame") -> "pd.DataFrame":
    """Tokens and costs of each model, most expensive first; no cost if the price is unknown."""
    sums = spent.drop(columns="day").groupby("model", as_index=False).sum(min_count=1)
    return sums.sort_values(["cost", "prompt_tokens"], ascending=False, ignore_index=True)
