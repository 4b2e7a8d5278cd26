"""The page Evaluation."""

from components.search import scores
from store.evaluation import evaluation
from store.library import Library
from tests.browser.coins import COINS
from tests.pages.conftest import finish_jobs, is_locked, opened, press, rerun, send, words


def test_golden_queries_are_saved_evaluated_and_shown(library: Library) -> None:
    app = opened("insights", view="Search quality")
    assert "no golden queries yet" in words(app)
    app.text_input(key="golden_line").set_value(COINS[0].entity)
    rerun(app)
    assert is_locked("golden"), "nothing is chosen yet"
    [tick] = [box for box in app.checkbox if box.label == COINS[0].name]
    tick.check()
    rerun(app)
    send(app, "golden")
    assert [one.answers for one in library.golden.all()] == [(COINS[0].address,)]
    press(rerun(app), "Run evaluation")
    finish_jobs()
    rerun(app)
    (kept,) = evaluation.stored(library)
    assert kept.queries == 1
    assert kept.scores(kept.rows[0]).mrr.mean == 1
    figures = app.dataframe[0].value
    assert figures["MRR"][0] == 1
    assert figures["MRR, 95 %"][0] == "", "one query gives no meaningful interval"
    drawn = scores.by_setting(kept, k=10)
    assert {one.measure for one in drawn} == {"Recall@10", "nDCG@10"}
    assert [one.mean for one in drawn if one.measure == "Recall@10"] == [
        kept.scores(row).recall.mean for row in kept.rows
    ]
    assert any(one.is_best for one in drawn)
    assert [bar.value for bar in scores.first_ranks(kept.rows[0])] == [1, 0, 0, 0, 0, 0]
    assert f"Best by nDCG@10: {kept.rows[0].preset}" in words(app), "of equals the first"
    assert len(app.get("echarts_chart")) == 3
    links = [str(getattr(link, "label", "")) for link in app.main.get("page_link")]
    assert COINS[0].entity in links, "it leads to the search"
    send(app, "golden-remove")
    assert library.golden.all() == []


def test_a_small_library_says_why_it_is_not_calibrated(library: Library) -> None:
    assert "needs 200 coins" in words(opened("insights", view="Search quality"))
