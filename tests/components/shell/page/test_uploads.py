"""Files are dropped under our own words."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[4]


def test_no_page_shows_streamlits_own_words() -> None:
    uploading = [
        str(path.relative_to(ROOT))
        for folder in ("components", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if "st.file_uploader(" in path.read_text()
    ]
    assert uploading == ["components/shell/page/uploads.py"]


def test_the_kinds_and_the_limit_stand_in_their_place() -> None:
    def app() -> None:
        from components.shell.page import uploads

        uploads.files("Papers", ["pdf"], 'PDF, "Word"', form="a form with {braces}")
        uploads.file("A picture", ["png"], "PNG", form="picture")

    drawn = AppTest.from_function(app).run()
    assert [one.label for one in drawn.file_uploader] == ["Papers", "A picture"]
    papers, picture = (one.proto.body for one in drawn.get("html"))
    assert 'content: "PDF, \\"Word\\" · up to 200 MB"' in papers
    assert 'content: "PNG · up to 200 MB"' in picture
    assert 'content: "Takes: PNG, up to 200 MB"' in picture


def test_a_few_refusals_are_read_at_once_and_many_are_a_table() -> None:
    def app(count: int) -> None:
        from components.shell.page import uploads
        from store import Refusal

        uploads.refused([Refusal(f"coin_{number}.json", "it has no name") for number in range(count)])

    few = AppTest.from_function(app, args=(2,)).run()
    assert few.markdown[0].value == r"**coin\_0\.json**: it has no name"
    many = AppTest.from_function(app, args=(6,)).run()
    assert [box.label for box in many.expander] == ["Refused and why (6)"]
    assert len(many.dataframe[0].value) == 6
