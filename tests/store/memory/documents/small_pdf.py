"""A PDF with a line of text on each page."""


def small_pdf(*pages: str, encrypted: bool = False, box: str = "/MediaBox [0 0 612 792]") -> bytes:
    """A PDF of one line for each page, written by hand; "" for a page without text.

    `box` says how its pages are cut and turned; their lines begin 72 points from the left and 720 from below.
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
