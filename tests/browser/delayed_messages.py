"""Messages from the server to a page, held back."""

from playwright.sync_api import Page, WebSocketRoute


class DelayedMessages:
    """Holds back the server's messages to a page until they are released."""

    def __init__(self, page: Page) -> None:
        self._holds = False
        self._kept: list[tuple[WebSocketRoute, str | bytes]] = []
        page.route_web_socket("**/_stcore/stream", self._carry)

    def _carry(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()
        server.on_message(
            lambda message: self._kept.append((page, message)) if self._holds else page.send(message)
        )

    def hold(self) -> None:
        self._holds = True

    def release(self) -> None:
        while self._kept:  # what comes meanwhile is kept, too: in its order
            page, message = self._kept.pop(0)
            page.send(message)
        self._holds = False
