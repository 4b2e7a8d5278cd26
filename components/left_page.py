"""A page that was left is not asked for once more.

Fragments look again by the clock of the browser. When a run leads to another page (`st.switch_page`), a look
of the first page may be on its way. Streamlit 1.67 runs it, tells the browser that it is back on the first
page, where nothing is drawn, and then cannot place what comes ("Bad delta path"): the page stays empty until
it is loaded anew.
"""

from typing import Any

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner


def forget() -> None:
    """Have Streamlit drop what fragments ask for on behalf of another page than the one that runs."""
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
