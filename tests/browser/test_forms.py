"""Forms that send themselves: what was typed is kept until the server has confirmed it, and done once."""

from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Page, Route, expect

from components.shell import javascript
from components.shell.page import forms
from components.shell.page.forms import Button, Field
from store.library import Library
from tests.browser.bare_page import captured, mount
from tests.browser.dashboard import Server, visit, wait_until_idle
from tests.waiting import eventually

FORM = javascript.component("shell/js/form.js")


def test_a_form_keeps_its_text_until_it_is_stored_and_is_stored_once(page: Page, seeded: Server) -> None:
    sent: list[Route] = []

    def lose_the_first_answer(route: Route) -> None:
        sent.append(route)
        if len(sent) == 1:
            route.fetch()  # the server does it, but its answer is lost on the way
            route.abort()
        else:
            route.continue_()

    visit(page, seeded, "memory?view=Browse&kind=Memories", title="Memory")
    wait_until_idle(page)
    page.route("**/message/form", lose_the_first_answer)
    page.get_by_role("button", name="Add").click()
    text = page.get_by_role("textbox", name="Memory", exact=True)
    page.get_by_role("button", name="Store").click()  # without a text
    expect(page.get_by_role("alert").filter(has_text="the content is empty")).to_be_visible()
    sent.clear()
    text.fill("The curator keeps <b>owls</b>.")
    page.get_by_label("Tags").fill("birds")
    page.get_by_role("button", name="Store").click()
    expect(page.get_by_text("Stored.")).to_be_visible()
    expect(page.get_by_text("1 memory", exact=True)).to_be_visible()
    expect(text).to_have_value("")
    assert len(sent) == 2
    assert sent[0].request.post_data == sent[1].request.post_data
    assert eventually(lambda: page.get_by_text("The curator keeps <b>owls</b>.").count() == 1)


def test_a_form_whose_required_field_is_empty_cannot_be_sent(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "register", lambda *given, **named: {"server": {}, "form": "f", "place": "p"})
    field = Field("path", "Path", required=True)
    with captured(forms) as data:
        forms.show("f", cast(Library, None), str, button=Button("Import path"), fields=[field])
    style = (Path(forms.__file__).parent / "form.css").read_text("utf-8")
    mount(page, script=FORM, html='<div class="memedex-form"></div>', style=style, data=data)
    button, path = page.get_by_role("button", name="Import path"), page.get_by_label("Path", exact=True)
    expect(button).to_be_disabled()
    path.fill(" ")
    expect(button).to_be_disabled()
    path.fill("/a/folder")
    expect(button).to_be_enabled()


def test_a_refusal_stays_until_a_file_comes_and_an_import_empties_and_closes_its_place(
    page: Page, seeded: Server, tmp_path: Path
) -> None:
    right = tmp_path / "notes.jsonl"
    right.write_text('{"role": "user", "content": "Where do herons nest?"}\n')
    visit(page, seeded, "memory?view=Browse&kind=Transcripts", title="Memory")
    wait_until_idle(page)
    page.get_by_role("button", name="Add", exact=True).click()
    place = page.get_by_test_id("stPopoverBody")
    files = place.get_by_role("region", name="Sessions", exact=True)
    place.get_by_role("button", name="Import").click()
    refusal = place.get_by_role("alert").filter(has_text="Drop files, or type a path, first.")
    expect(refusal).to_be_visible()
    files.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(right)
    expect(place.get_by_text("notes.jsonl", exact=True)).to_be_visible()
    expect(refusal).to_be_hidden()
    place.get_by_role("button", name="Import 1 file").click()
    expect(place).to_be_hidden()
    expect(page.get_by_text("1 session: 1 new message")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(place.get_by_role("button", name="Import", exact=True)).to_be_visible()
    expect(place.get_by_text("notes.jsonl", exact=True)).to_have_count(0)
