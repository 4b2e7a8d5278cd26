// What a drawn line encloses, and how it is sent and read.

/** 1 for each point inside these corners, by counting the crossings of a line from the point to the side. */
export function within(corners, xs, ys) {
  const inside = new Uint8Array(xs.length);
  const across = corners.map(([x]) => x);
  const [low, high] = [Math.min(...across), Math.max(...across)];
  for (let row = 0; row < inside.length; row += 1) {
    const [x, y] = [xs[row], ys[row]];
    if (x < low || x > high) continue;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a, a += 1) {
      const [[ax, ay], [bx, by]] = [corners[a], corners[b]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside[row] ^= 1;
    }
  }
  return inside;
}

/** One bit for each point, as base64. */
export function asBits(inside) {
  const bits = new Uint8Array(Math.ceil(inside.length / 8));
  inside.forEach((one, row) => {
    if (one) bits[row >> 3] |= 128 >> (row & 7);
  });
  let signs = "";
  for (let start = 0; start < bits.length; start += 8192)
    signs += String.fromCharCode(...bits.subarray(start, start + 8192));
  return btoa(signs);
}

/** The points of such bits, of so many. */
export function fromBits(text, length) {
  const bits = fromBase64(text);
  return Uint8Array.from({ length }, (_, row) => (bits[row >> 3] >> (7 - (row & 7))) & 1);
}

/** The bytes of a base64 text. */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/** Copies the old values to the start of a longer array. */
export function longer(old, array) {
  if (old) array.set(old);
  return array;
}
