"""The search page: filters alone, the drawer, and saved searches."""

from pathlib import Path
from threading import Event
from types import ModuleType

import pytest
from streamlit.testing.v1 import AppTest

from components.search import saved
from components.shell.session import resources
from store.errors import InvalidRecord, NotInMemory
from store.evaluation import marks
from store.evaluation.marks import Gain, WeightFit
from store.library import Library
from store.records import CAPTION_FACETS, FACETS
from store.search.query import SavedSearch
from tests.browser.coins import COINS, DOG, FROG, UNCAPTIONED
from tests.pages.conftest import opened, press, rerun, send, sendable, words


def save_as(app: AppTest, name: str) -> AppTest:
    return send(app, "save-search", name=name)


def plain(markdown: str) -> str:
    return markdown.replace("\\", "")


def test_no_search_waits_for_the_orders_of_pages(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = Event(), Event()

    def prepare_lists(self: Library) -> None:
        begun.set()
        may_end.wait()

    monkeypatch.setattr(Library, "prepare_lists", prepare_lists)
    try:
        warming = resources._warming(tmp_path, "hashed", library)
        assert begun.wait(60)
        warming.join(60)
        assert not warming.is_alive()
    finally:
        may_end.set()


def test_a_tag_filter_alone_lists_its_coins(library: Library) -> None:
    library.edit_tags([DOG.address], add=["good boy"])
    assert "the newest of 1 coin in Library" in words(opened("search", q='tag:"good boy"'))
    assert "Describe a coin" in words(opened("search"))


def test_a_search_says_how_many_coins_were_found_by_their_pictures(library: Library) -> None:
    assert "by their pictures" not in words(opened("search", q="dog"))
    nothing = dict.fromkeys(CAPTION_FACETS, "A meme coin.")
    library.caption(DOG.address, caption=nothing)
    said = words(opened("search", q="dog"))
    assert said.count("Found 1 of these by their pictures, since their captions say nothing.") == 1


def test_a_search_speaks_of_no_vectors_where_none_is_missing(library: Library) -> None:
    assert "for vectors" not in words(opened("search", q="dog"))


def test_a_search_says_how_many_coins_wait_for_vectors_and_why(library: Library) -> None:
    with library.catalog.writing() as db:
        (first,) = db.execute("SELECT id FROM records WHERE address = ?", [DOG.address]).fetchone()
        db.execute("DELETE FROM embeddings WHERE record = ?", [first])
    assert "1 coin of the library waits for vectors by hashed: doctor --repair" in words(
        opened("search", q="dog")
    )


def test_other_tiers_can_be_listed_or_searched_by_words(library: Library) -> None:
    assert "the newest of 1 coin in Approved" in words(opened("search", q="tier:approved"))
    assert "results with these words in Approved" in words(
        opened("search", q=f"{UNCAPTIONED.name} tier:approved")
    )
    assert "No matches in Approved" in words(opened("search", q="unheard-of tier:approved"))
    assert "Only the library can be searched by picture" in words(
        opened("search", q=f"like:{FROG.address} tier:approved")
    )


def test_the_question_is_kept_over_the_views_and_colours_the_map(library: Library) -> None:
    app = opened("search", q="frog")
    [views] = [one.body for one in app.main.html if "memedex-views" in one.body]
    assert "?view=Map&amp;q=frog" in views
    app = opened("search?view=Map", q="frog")
    assert (app.text_input(key="q").value, app.selectbox(key="map_colour").value) == ("frog", "likeness")
    assert opened("search?view=Map").selectbox(key="map_colour").value == "subject"


def test_a_coin_that_is_not_in_the_library_is_linked_where_it_is(library: Library) -> None:
    def links(line: str) -> dict[str, str]:
        found = opened("search", q=line).main.page_link
        return {plain(link.label): f"{link.page}?{link.query_string}" for link in found}

    label = "**Quiet Ape (APE)** is not in the library: open it in Approved"
    assert links(UNCAPTIONED.address)[label] == "approved?approved_words=APE"
    assert label in links("ape")
    assert library.reject([UNCAPTIONED.address]).done
    assert links("Quiet Ape")[label.replace("Approved", "Rejected")] == "library?tab=Rejected&trash_words=APE"
    assert "not in the library" not in "".join(links(DOG.name))


def test_an_unknown_filter_shows_no_results_and_suggests_a_correction(library: Library) -> None:
    library.edit_tags([DOG.address], add=["good boy"])
    app = opened("search", q='tagg:"good boy" dog')
    assert plain(app.warning[0].value) == "Unknown filter 'tagg'. Did you mean tag:?"
    assert "ranked in" not in words(app)
    assert "save-search" not in sendable()
    taken = app.button(key="search-corrected")
    assert plain(taken.label) == 'Use tag:"good boy" dog'
    taken.click()
    assert not rerun(app).warning
    assert "1 coin ranked in" in words(app)


def test_clearing_an_invalid_filter_keeps_the_words(library: Library) -> None:
    app = opened("search", q="before:soon tier:library frog")
    assert plain(app.warning[0].value) == "before:soon is no date such as 2025-01-31"
    press(app, "Clear filters")
    assert not app.warning
    assert app.query_params["q"] in ("frog", ["frog"])
    assert f"{len(COINS)} coins ranked in" in words(app)


def test_a_tier_in_the_line_overrides_the_tier_control(library: Library) -> None:
    app = opened("search", q="tier:approved", tier="pending")
    assert not app.warning
    assert "the newest of 1 coin in Approved" in words(app)


def test_a_weight_above_the_usual_range_of_a_chip_is_kept(library: Library) -> None:
    app = opened("search", q='150 × "frog" + "dog"')
    app.session_state["chip-text-frog-1"] = True  # unfolds it
    assert rerun(app).number_input[0].value == 150


def test_a_closed_chip_does_not_change_the_line(library: Library) -> None:
    """A browser keeps reporting the last value of a hidden control; the line must not follow it."""
    app = opened("search", q='2 × "frog" + "dog"')
    app.session_state["chip-text-frog-1"] = True
    rerun(app).number_input[0].set_value(4)
    assert rerun(app).query_params["q"] == '4 × "frog" + "dog"'
    assert app.number_input[0].value == 4  # still in use
    app.session_state["chip-text-frog-1"] = False
    assert not rerun(app).number_input


def test_words_for_the_image_facet_search_only_pictures(library: Library) -> None:
    assert f"{len(COINS)} coins ranked in" in words(opened("search", q="image: frog"))
    without_say = opened("search", q="image: frog", w="0,4,3,2,1")
    assert "What this query speaks about has weight 0" in words(without_say)


def test_a_saved_search_includes_the_values_of_the_controls(library: Library) -> None:
    library.edit_tags([DOG.address], add=["good boy"])
    save_as(opened("search", q='animal tag:"good boy"'), "dogs")
    assert library.searches.all()["dogs"].line == 'animal tag:"good boy"'
    app = press(opened("search", q="frog has:visual"), "dogs")
    assert app.query_params["q"] == 'animal tag:"good boy"'
    assert "1 coin ranked in" in words(app)


def test_old_drawer_values_do_not_return(library: Library) -> None:
    library.edit_tags([DOG.address], add=["good boy"])
    library.searches.save("frogs", SavedSearch("frog", folded=True))
    app = opened("search", q='animal tag:"good boy"')
    app.session_state["search-filters"] = True
    assert rerun(app).pills(key="search-by-tag").value == ["good boy"]
    app = press(app, "frogs")
    assert (app.text_input(key="q").value, app.toggle(key="fold").value) == ("frog", True)
    assert app.pills(key="search-by-tag").value == []


@pytest.mark.slow
def test_the_drawer_is_the_same_on_every_page_and_writes_into_its_line(library: Library) -> None:
    library.edit_tags([DOG.address], add=["good boy"])
    shown = {}
    for page, key, line in (
        ("review", "pending", "pending_words"),
        ("search", "search", "q"),
        ("settings", "export", "export-line"),
        ("captions", "caption", "caption-words"),
    ):
        app = opened(page)
        app.session_state[f"{key}-filters"] = True
        rerun(app)
        shown[page] = [
            app.date_input(key=f"{key}-by-after").label,
            app.pills(key=f"{key}-by-has").label,
            app.selectbox(key=f"{key}-by-length").label,
            app.toggle(key=f"{key}-mine").label,
            app.button(key=f"{key}-reset").label,
        ]
        app.pills(key=f"{key}-by-has").set_value(["visual"])
        assert rerun(app).text_input(key=line).value == "has:visual"
        app.button(key=f"{key}-reset").click()
        assert rerun(app).text_input(key=line).value == ""
    assert len({tuple(labels) for labels in shown.values()}) == 1


def test_saving_under_an_existing_name_does_not_overwrite_it(library: Library) -> None:
    library.searches.save("Dogs", SavedSearch("dog"))
    with pytest.raises(InvalidRecord, match="“Dogs” is taken"):
        save_as(opened("search", q="frog"), "dogs")
    assert {name: kept.line for name, kept in library.searches.all().items()} == {"Dogs": "dog"}


def test_saving_a_search_again_changes_nothing(library: Library) -> None:
    save_as(opened("search", q="frog"), "frogs")
    kept = library.searches.all()["frogs"]
    app = save_as(opened("search", q="frog"), "Frogs")
    assert ["Already saved as “frogs”" in toast.value for toast in app.toast] == [True]
    assert library.searches.all()["frogs"].looked == kept.looked


def test_a_saved_search_opens_by_a_link_with_its_name(library: Library) -> None:
    library.searches.save("wet", SavedSearch("rain", {"context": 5.0}))
    app = opened("search", search="wet")
    assert app.text_input(key="q").value == "rain"
    assert app.query_params["q"] == "rain"
    assert app.query_params["w"] == "0,0,5,0,0"
    assert "search" not in app.query_params
    assert "There is no saved search dry" in "".join(
        toast.value for toast in opened("search", search="dry").toast
    )


def test_a_saved_search_keeps_its_ranking_settings(library: Library) -> None:
    save_as(opened("search", q="frog", w="0,4,0,0,0", fold="true", n="200"), "frogs")
    kept = library.searches.all()["frogs"]
    assert (kept.weights, kept.folded, kept.shown) == (
        {**dict.fromkeys(FACETS, 0.0), "entity": 4.0},
        True,
        200,
    )
    for app in (
        press(opened("search", q="dog"), "frogs"),
        press(opened("search"), "frogs"),
        opened("search", search="frogs"),
    ):
        assert app.query_params.get("w") == "0,4,0,0,0"
        assert app.toggle(key="fold").value is True
        assert app.selectbox(key="n").value == 200
        assert (app.query_params["fold"], app.query_params["n"]) == ("true", "200")


def test_new_coins_are_counted_for_a_saved_filter(library: Library) -> None:
    library.edit_tags([coin.address for coin in COINS], add=["kept"])
    library.searches.save("kept", SavedSearch("tag:kept", None, {"tester": 1.0}))
    app = opened("search")
    assert f"kept :blue-badge[{len(COINS)} new]" in [button.label for button in app.button]
    press(rerun(app), f"kept :blue-badge[{len(COINS)} new]")
    assert "kept" in [button.label for button in opened("search").button]


def test_searches_with_different_weights_have_separate_counts(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "_new", lambda library, search, since: 3 if search.weights else 2)
    library.searches.save("all", SavedSearch("frog", None, {"tester": 1.0}))
    library.searches.save("looks", SavedSearch("frog", {"visual": 1.0}, {"tester": 1.0}))
    labels = [button.label for button in opened("search").button]
    assert {"all :blue-badge[2 new]", "looks :blue-badge[3 new]"} <= {*labels}


def test_a_minus_between_blanks_is_offered_as_one(library: Library) -> None:
    app = opened("search", q="frog - cartoon")
    assert "are read as words" in words(app)
    app = press(app, "Use frog − cartoon")
    assert "are read as words" not in words(app)


def test_a_saved_search_may_have_any_name(library: Library) -> None:
    library.searches.save("dunder__<script>__", SavedSearch("rain"))
    app = opened("search")
    assert not app.exception
    send(app, "forget-dunder__<script>__")
    assert library.searches.all() == {}


def test_weights_are_fitted_to_marks_taken_with_a_click_and_refused_without_enough(library: Library) -> None:
    assert "Fit weights to marks" not in labels(opened("search", q="dog"))
    coins = [coin.address for coin in COINS if coin.address in library.snapshot().addresses]
    library.golden.judge("dog", coins[0], True)
    app = press(opened("search", q="dog"), "Fit weights to marks")
    assert "so far 0 good and 0 bad" in words(app)
    press(app, "Dismiss")
    assert "Fit weights to marks" in labels(app)


def test_fitted_weights_set_the_sliders(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = dict(zip(FACETS, (0.0, 1.0, 4.0, 2.0, 0.5), strict=True))
    found = WeightFit(marks=34, before=0.77, after=0.83, error=0.04, weights=fitted)
    monkeypatch.setattr(marks, "fit_weights", lambda *_, **__: found)
    library.golden.judge("dog", DOG.address, True)
    app = press(opened("search", q="dog"), "Fit weights to marks")
    assert "On your 34 marks: nDCG 0.77 → 0.83, leave-one-out, gain ± 0.04." in words(app)
    send(app, "save-fitted", name="Mine")
    assert library.presets.all()["Mine"] == found.weights
    app = press(app, "Use these weights")
    assert "0,1,4,2,0.5" in str(app.query_params["w"])


@pytest.mark.parametrize(
    ("label", "module", "learn"),
    [("Fit weights to marks", marks, "marked_queries"), ("Shift question by marks", marks, "measured_shift")],
)
def test_what_cannot_be_learned_without_vectors_in_memory_says_so(
    library: Library, monkeypatch: pytest.MonkeyPatch, label: str, module: ModuleType, learn: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotInMemory("this compares all vectors in memory")

    monkeypatch.setattr(module, learn, refuse)
    library.golden.judge("dog", DOG.address, True)
    app = press(opened("search", q="dog"), label)
    assert "This compares all vectors in memory." in words(app)


def test_a_question_is_shifted_by_its_marks_in_the_address_and_in_saved_searches(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Shift question by marks" not in labels(opened("search", q="dog"))
    library.golden.judge("dog", FROG.address, True)
    app = press(opened("search", q="dog"), "Shift question by marks")
    assert "so far 1 good and 0 bad" in words(app)
    gains = [
        Gain(marks=12, before=0.71, after=0.71, error=0.09),
        Gain(marks=13, before=0.71, after=0.84, error=0.2),
    ]
    monkeypatch.setattr(marks, "measured_shift", lambda *_: gains.pop(0))
    library.golden.judge("dog", DOG.address, False)
    assert "Nothing is gained: nDCG 0.71 → 0.71 on 12 marks" in words(rerun(app))
    library.golden.judge("dog", DOG.address, None)
    app = rerun(app)
    found = "On this question's 13 marks: nDCG 0.71 → 0.84, leave-one-out, gain ± 0.20."
    assert f"{found} The gain may be chance" in words(app)
    library.golden.judge("dog", DOG.address, False)
    gains.append(Gain(marks=14, before=0.7, after=0.8, error=0.05))
    app = press(rerun(app), "Shift this question")
    assert "Question shifted by its marks: 1 good, 1 bad" in words(app)
    assert app.query_params["shift"] == "1"
    save_as(app, "More frogs")
    assert library.searches.all()["More frogs"].shifted
    app = press(app, "Stop shifting")
    assert "shift" not in app.query_params
    assert "Question shifted" in words(opened("search", search="More frogs"))
    assert "Question shifted" in words(opened("search", q="dog", shift="1"))


def test_a_query_that_is_too_long_for_an_address_is_not_in_it(library: Library) -> None:
    app = opened("search", q="frog")
    for line in ("frog " * 2_000, "🐸 " * 3_000, "x" * 100_000):
        app.text_input(key="q").set_value(line)
        rerun(app)
        assert "q" not in app.query_params
        assert app.text_input(key="q").value == line
        assert "too long for the page's address" in words(app)
    app.text_input(key="q").set_value("dog")
    rerun(app)
    assert app.query_params["q"] in ("dog", ["dog"])
    assert "too long" not in words(app)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x" * 100_000, "The text to search for has 100,000 characters"),
        ("picture:nope", "No picture nope is kept here"),
    ],
    ids=["text", "picture"],
)
def test_a_query_that_cannot_be_asked_shows_its_fault_and_no_coins(
    library: Library, line: str, message: str
) -> None:
    app = opened("search")
    app.text_input(key="q").set_value(line)
    rerun(app)
    assert message in plain(app.warning[0].value)
    assert not [part for part in app.get("bidi_component") if part.proto.component_name == "memedex.grid"]


def test_another_question_is_not_shifted(library: Library) -> None:
    for line in ("dog", "frog"):
        library.golden.judge(line, FROG.address, True)
    app = opened("search", q="dog", shift="1")
    assert "Question shifted" in words(app)
    app.text_input[0].set_value("frog")
    app = rerun(app)
    assert "Question shifted" not in words(app)
    assert "shift" not in app.query_params
    assert "Question shifted" not in words(opened("search", q="rain", shift="1")), "it has no marks"


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]
