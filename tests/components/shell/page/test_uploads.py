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
    assert 'content: "Takes PNG, up to 200 MB"' in picture
