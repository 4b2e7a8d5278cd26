// Pictures that the server blurs in safe mode.

/** Whether the picture at this address is blurred in safe mode. */
export function isBlurred(source, mark, shown) {
  const [, query = ""] = (source ?? "").split("?");
  const names = new URLSearchParams(query);
  return names.has(mark) && !names.has(shown);
}
