"""Drop requests of a page that was left.

The map's fragment asks for pictures as soon as it is drawn. When somebody goes to another page, a request of
the first page may be in flight. Streamlit 1.67 runs it, tells the browser that it is back on the first page,
where nothing is drawn, and then cannot place what follows ("Bad delta path"): the page stays empty until it
is reloaded.
"""

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData


def apply_patch() -> None:
    """Make Streamlit drop what fragments request for another page than the one that runs."""
    ask, run = AppSession.request_rerun, ScriptRunner._run_script

    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        page = self._client_state.page_script_hash
        if client_state and client_state.fragment_id and page and client_state.page_script_hash != page:
            return
        ask(self, client_state)

    def run_script(self: ScriptRunner, rerun_data: RerunData) -> None:
        page = self._get_script_run_ctx().page_script_hash
        if rerun_data.fragment_id_queue and page and rerun_data.page_script_hash != page:
            return
        run(self, rerun_data)

    # Streamlit has no hook for either, and mypy no word for a method that is replaced.
    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    ScriptRunner._run_script = run_script  # type: ignore[method-assign]
