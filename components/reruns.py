"""Of runs that follow closely on one another, none takes from the other what it said or was asked.

People click while a page runs, and fragments look again by the clock of the browser. Streamlit 1.67 then now
and then loses things. What is wrapped here keeps them, together with `runner.fastReruns = false`, by which
one run of a session ends before the next begins.
"""

from typing import Any

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.state import SafeSessionState


def mend() -> None:
    """Have Streamlit lose nothing between two runs of a page; once, before the first page opens."""
    _forget_left_pages()
    _hear_to_the_end()
    _keep_unsent()
    _finish_callbacks()


def _forget_left_pages() -> None:
    """A look of a page that was left (`st.switch_page`) told the browser that it is back there, where nothing
    is drawn; what came then had no place ("Bad delta path"), and the page stayed empty. It is dropped."""
    ask, run = AppSession.request_rerun, ScriptRunner._run_script

    def request_rerun(session: AppSession, client_state: Any) -> None:
        page = session._client_state.page_script_hash
        if client_state and client_state.fragment_id and page and client_state.page_script_hash != page:
            return
        ask(session, client_state)

    def run_script(runner: ScriptRunner, rerun_data: Any) -> None:
        page = runner._get_script_run_ctx().page_script_hash
        if rerun_data.fragment_id_queue and page and rerun_data.page_script_hash != page:
            return
        run(runner, rerun_data)

    AppSession.request_rerun, ScriptRunner._run_script = request_rerun, run_script


def _hear_to_the_end() -> None:
    """A fragment that is asked for in the moment in which a run has ended gets a new runner, and what the
    ended one still had to tell was ignored: an answer never came, a dialog stayed open."""
    hear = AppSession._handle_scriptrunner_event_on_event_loop

    def handle(session: AppSession, sender: ScriptRunner, event: ScriptRunnerEvent, *told: Any) -> None:
        current = session._scriptrunner
        if sender in (current, None) or event is ScriptRunnerEvent.SHUTDOWN:
            hear(session, sender, event, *told)
            return
        session._scriptrunner = sender
        try:
            hear(session, sender, event, *told)
        finally:
            session._scriptrunner = current

    AppSession._handle_scriptrunner_event_on_event_loop = handle


def _keep_unsent() -> None:
    """A fragment that begins threw away what the run before it had drawn in its place and not sent yet. Then
    the browser cleared that place, and what stood below it moved up and was overwritten."""
    clear = AppSession._clear_queue

    def clear_queue(session: AppSession, fragment_ids: list[str] | None = None) -> None:
        if fragment_ids:
            session._browser_queue._delta_index_map.clear()  # what it draws comes after, not in place of it
        else:
            clear(session)

    AppSession._clear_queue = clear_queue


def _finish_callbacks() -> None:
    """A click that comes while the callbacks of another are under way, or about to begin, ended them: a
    decision was half made, or not at all. They are carried out first."""
    carry_out = SafeSessionState.on_script_will_rerun

    def on_script_will_rerun(state: SafeSessionState, *asked: Any, **how: Any) -> None:
        look_for_newer = state._yield_callback
        # Not by its own __setattr__, which writes into the session.
        object.__setattr__(state, "_yield_callback", lambda: None)
        try:
            carry_out(state, *asked, **how)
        finally:
            object.__setattr__(state, "_yield_callback", look_for_newer)

    SafeSessionState.on_script_will_rerun = on_script_will_rerun
