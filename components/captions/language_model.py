"""The language model: which one, where it answers, its key, and whether it does."""

import os
import time
from dataclasses import dataclass

import streamlit as st

from components.shell import format
from components.shell.page import places
from store import Library, MemedexError
from store.captioning import answer_pieces
from store.settings import keep, keep_until_end, settings

_SECONDS = 30.0  # that the test waits
_ENOUGH = 200  # characters of its answer
_QUESTION = [{"role": "user", "content": "Answer with one word: ready."}]
_KEEP = "in .env", "until the program ends"


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models answer: how litellm begins their names, the variable of the key, the usual address."""

    name: str
    prefix: str
    key: str = ""
    address: str = ""
    example: str = ""


# Names and variables: https://docs.litellm.ai/docs/providers
PROVIDERS = (
    Provider("Ollama on this machine", "ollama/", address="http://127.0.0.1:11434", example="llava"),
    Provider(
        "Another server on this machine (llama.cpp, LM Studio, vLLM)", "openai/", "OPENAI_API_KEY",
        "http://127.0.0.1:8080/v1", "any",
    ),
    Provider("OpenAI", "", "OPENAI_API_KEY", example="gpt-4o-mini"),
    Provider("Anthropic", "anthropic/", "ANTHROPIC_API_KEY", example="claude-sonnet-4-5"),
    Provider("Google Gemini", "gemini/", "GEMINI_API_KEY", example="gemini-2.5-flash"),
    Provider("OpenRouter", "openrouter/", "OPENROUTER_API_KEY", example="qwen/qwen2.5-vl-72b-instruct"),
    Provider("Another, by its litellm name", "", example="mistral/pixtral-12b-2409"),
)  # fmt: skip


def show(library: Library) -> None:
    """The model in use, and for administrators the fields that choose another."""
    if model := settings().caption_model:
        st.markdown(f"**{format.plain(model)}** drafts captions, generates coins and answers questions.")
        st.page_link(**places.DRAFTS, label="AI drafts", icon=":material/neurology:")
    else:
        st.markdown(
            "No language model is chosen. One drafts captions, generates coins and answers questions."
        )
    if not (library.can_write and library.catalog.actor.can_administer):
        st.caption("Who runs this program can choose another.")
        return
    with st.container(border=True, width=640):
        _choose()
    if model and st.button("Test", icon=":material/network_check:", help="One short question to the model"):
        _test(model)


def _choose() -> None:
    provider = st.selectbox(
        "Provider",
        PROVIDERS,
        format_func=lambda one: one.name,
        index=next((at for at, one in enumerate(PROVIDERS) if settings().caption_model and _is_of(one)), 0),
        key="language-model-provider",
    )
    own = _is_of(provider)
    model = st.text_input(
        "Model", value=settings().caption_model.removeprefix(provider.prefix) if own else "",
        placeholder=provider.example, key=f"language-model-{provider.name}",
        help="It must be able to see pictures to draft captions.",
    ).strip()  # fmt: skip
    address = st.text_input(
        "Address", value=settings().caption_api_base if own else provider.address,
        placeholder="the provider's own", key=f"language-model-address-{provider.name}",
    ).strip()  # fmt: skip
    key, kept = "", _KEEP[0]
    if provider.key:
        key = st.text_input(
            "Key", type="password", placeholder="not shown again; empty: as it is",
            key=f"language-model-key-{provider.name}", help=f"As {provider.key}; local servers want none.",
        ).strip()  # fmt: skip
        kept = st.radio("Keep the key", _KEEP, horizontal=True, key="language-model-kept")
    if st.button("Use this model", type="primary", icon=":material/check:", disabled=not model):
        _use(provider, model, address, key, is_kept=kept == _KEEP[0])
        st.rerun()


def _use(provider: Provider, model: str, address: str, key: str, *, is_kept: bool) -> None:
    keep({"MEMEDEX_CAPTION_MODEL": provider.prefix + model, "MEMEDEX_CAPTION_API_BASE": address})
    if provider.key and key:
        (keep if is_kept else keep_until_end)({provider.key: key})
    elif provider.prefix == "openai/" and not os.environ.get(provider.key):
        keep({provider.key: "none"})  # litellm asks for some key, a local server for none


def _is_of(provider: Provider) -> bool:
    model = settings().caption_model
    return model.startswith(provider.prefix) if provider.prefix else "/" not in model or not provider.key


def _test(model: str) -> None:
    began, answer = time.monotonic(), ""
    try:
        with st.spinner("Asking …", show_time=True):
            pieces = answer_pieces(
                _QUESTION, model=model, api_base=settings().caption_api_base or None, timeout=_SECONDS
            )
            for piece in pieces:
                answer += piece
                if len(answer) > _ENOUGH:
                    break
    except MemedexError as error:
        st.error("The model could not be asked:", icon=":material/error:")
        st.text(str(error))
        return
    st.success(f"It answered after {time.monotonic() - began:.1f} s:", icon=":material/check_circle:")
    st.text(answer[:_ENOUGH] or "(nothing)")
