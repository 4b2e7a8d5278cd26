"""Names in zips that Windows wrote without saying in which code page."""

import pytest

from store.importing.zip_names import code_page


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *((name, "gbk") for name in ("狗狗币.png", "新建文件夹/图片.png")),
        *((name, "cp932") for name in ("犬コイン.png", "写真フォルダ/犬.png")),
        *((name, "cp437") for name in ("café crème.png", "Lösung für Äpfel.png", "Grüße.png")),
        ("青蛙幣圖片.png", "big5"),
        ("개구리 코인.png", "cp949"),
        ("Монета.png", "cp866"),
        ("Лягушка.png", "cp1251"),
        ("币 🐸.png", "utf-8"),
    ],
)
def test_a_name_is_read_in_the_code_page_that_people_write_it_in(name: str, encoding: str) -> None:
    raw = name.encode(encoding)
    assert raw.decode(code_page(raw)) == name
