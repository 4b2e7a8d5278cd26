// Colours as numbers in the format of the canvas memory.

const FIRST_OF_RANGE = 200; // palette indexes below it belong to the legend, the others to a range
const STEPS = 55;

/** @typedef {number[]} Colour red, green and blue, 0 to 255 */

/** @param {string} colour such as "#1a2b3c" @returns {Colour} */
function rgb(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * Along a range, from blue over violet to yellow, readable on dark and light.
 *
 * @param {number} part 0 to 1
 * @returns {Colour}
 */
export function ramp(part) {
  const stops = [
    [43, 96, 190],
    [141, 70, 190],
    [224, 88, 120],
    [250, 200, 70],
  ];
  const at = Math.min(0.9999, Math.max(0, part)) * 3;
  const [a, b] = [stops[Math.floor(at)], stops[Math.floor(at) + 1]];
  return a.map((from, place) => Math.round(from + (b[place] - from) * (at % 1)));
}

/** @param {Colour} colour */
function packed([red, green, blue]) {
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

/**
 * The colour of a point from its one-byte index.
 *
 * @param {{colour: string}[]} legend
 */
export function paletteOf(legend) {
  const palette = new Uint32Array(256);
  legend.forEach(({ colour }, place) => (palette[place] = packed(rgb(colour))));
  for (let step = 0; step <= STEPS; step += 1) palette[FIRST_OF_RANGE + step] = packed(ramp(step / STEPS));
  return palette;
}

/** @param {number} value of the palette @returns its colour in CSS notation */
export function css(value) {
  return `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
}

/** @param {number} value of the palette @returns it half transparent, for a point that is not selected */
export function faded(value) {
  return (value & 0x00ffffff) | 0x30000000;
}

/**
 * More transparent: the edge of a point, which covers only part of a pixel.
 *
 * @param {number} value
 * @param {number} part
 */
export function thinned(value, part) {
  return (value & 0x00ffffff) | (((value >>> 24) * part) << 24);
}
