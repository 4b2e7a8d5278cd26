"""What tools answer is marked, and can be sent."""

import json

from mcp.types import CallToolResult, ImageContent, TextContent

from store.mcp.named_tool import MARK, _sendable


def test_half_a_character_of_another_program_does_not_keep_an_answer_from_being_sent() -> None:
    fields = {"name": "half \ud83d", "tags": ["\udc00", 1, None], "\ud83d": True}
    picture = ImageContent(type="image", data="", mime_type="image/jpeg")
    answer = CallToolResult(content=[TextContent(type="text", text="x"), picture], structured_content=fields)
    sent = json.loads(_sendable(answer, is_marked=True).model_dump_json())
    assert sent["structured_content"].pop(MARK)
    assert sent["structured_content"] == {"name": "half ?", "tags": ["?", 1, None], "?": True}
    assert [one["type"] for one in sent["content"]] == ["text", "image"]
    assert MARK in sent["content"][0]["text"]
