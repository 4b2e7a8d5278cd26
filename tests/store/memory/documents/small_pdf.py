"""A PDF with a line of text on each page."""

import hashlib
import re


def small_pdf(
    *pages: str, encrypted: bool = False, box: str = "/MediaBox [0 0 612 792]", filled: str = ""
) -> bytes:
    """A PDF of one line for each page, written by hand; "" for a page without text.

    `box` says how its pages are cut and turned; their lines begin 72 points from the left and 720 from below.
    `filled` is what somebody filled into a form on the last page.
    """
    streams = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 9 9 l S" for text in pages]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R {box} /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    if filled:
        field, shape = len(objects) + 1, f"q BT /F1 12 Tf 2 5 Td ({filled}) Tj ET Q"
        objects[0] = f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{field} 0 R] >> >>"
        objects[-2] = objects[-2].replace("/Type /Page ", f"/Type /Page /Annots [{field} 0 R] ")
        objects.append(
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (pond) /V ({filled}) /Rect [200 600 400 620] /F 4 "
            f"/AP << /N {field + 1} 0 R >> >>"
        )
        objects.append(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Length {len(shape)} >>\nstream\n{shape}\nendstream"
        )
    if encrypted:
        key = "0" * 64
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >>")
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    more = f"/Encrypt {len(objects)} 0 R /ID [<00> <00>] " if encrypted else ""
    size = len(objects) + 1
    return (
        content
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {more}>>\n"
            f"startxref\n{len(content)}\n%%EOF\n"
        ).encode()
    )


def locked_without_password(content: bytes) -> bytes:
    """The PDF encrypted with 40-bit RC4 for an owner, and with no password to open it (PDF 1.4, 3.5)."""
    padding = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
    owner = _rc4(hashlib.md5(b"owner".ljust(5) + padding[:27]).digest()[:5], padding)
    key = hashlib.md5(padding + owner + (-4 & 0xFFFFFFFF).to_bytes(4, "little") + b"0" * 16).digest()[:5]

    def sealed(found: re.Match[bytes]) -> bytes:
        number = int(found[1]).to_bytes(3, "little") + b"\0\0"
        stream = _rc4(hashlib.md5(key + number).digest()[:10], found[3])
        return found[1] + found[2] + stream + found[4]

    body = content[: content.index(b"xref\n")]
    body = re.sub(
        rb"(\d+)( 0 obj\n<< /Length \d+ >>\nstream\n)(.*?)(\nendstream)", sealed, body, flags=re.DOTALL
    )
    count = len(re.findall(rb"^\d+ 0 obj", body, re.MULTILINE))
    lock = f"/V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{_rc4(key, padding).hex()}>"
    entry = f"/Encrypt << /Filter /Standard {lock} >> /ID [<{'30' * 16}> <{'30' * 16}>]"
    offsets = [found.start() for found in re.finditer(rb"^\d+ 0 obj", body, re.MULTILINE)]
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    tail = f"trailer\n<< /Size {count + 1} /Root 1 0 R {entry} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {count + 1}\n0000000000 65535 f \n{table}{tail}".encode()


def _rc4(key: bytes, content: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    sealed = bytearray()
    for byte in content:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        sealed.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(sealed)
