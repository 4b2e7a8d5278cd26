"""What `.streamlit/config.toml` sets beyond Streamlit's documented options is in force."""

from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed


def test_the_server_never_sends_a_reference_to_a_message_that_the_browser_may_have_dropped() -> None:
    message = ForwardMsg()
    message.delta.new_element.markdown.body = "x" * 10_000_000
    populate_hash_if_needed(message)
    assert not message.metadata.cacheable


def test_a_run_of_a_page_does_not_hold_up_others_by_going_through_all_of_memory() -> None:
    assert not config.get_option("runner.postScriptGC")
