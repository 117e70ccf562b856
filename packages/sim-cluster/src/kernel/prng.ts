// A seeded source of random numbers.

/** A source of numbers in [0, 1); the same shape as `Math.random`. */
export type Random = () => number;

const step = 0x6d2b79f5;

/**
 * A seeded generator (mulberry32): equal seeds give equal sequences on every platform. `drawn`:
 * continues after so many numbers of another generator.
 */
export function seededRandom(seed: number, drawn = 0): Random {
  let state = (seed + Math.imul(drawn, step)) | 0;
  return () => {
    state = (state + step) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A source of numbers that says how many were drawn from it. */
export interface CountedRandom {
  readonly random: Random;
  drawn(): number;
}

/** A seeded generator that counts. */
export function countedRandom(seed: number): CountedRandom {
  const random = seededRandom(seed);
  let drawn = 0;
  return {
    random: () => {
      drawn++;
      return random();
    },
    drawn: () => drawn,
  };
}

/** The draws of `random`, from its beginning each time the result is called. */
export function replaying(random: Random): () => Random {
  const drawn: number[] = [];
  return () => {
    let at = 0;
    return () => {
      const number = drawn[at] ?? random();
      drawn[at] = number;
      at += 1;
      return number;
    };
  };
}

/** An integer in [low, high). */
export function randomInteger(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low));
}

/** The character codes of the hexadecimal digits. */
const hexCodes: readonly number[] = [...'0123456789abcdef'].map((digit) => digit.charCodeAt(0));

/**
 * Returns hexadecimal digits drawn from `random`. They are joined at once: a text to which each is
 * added is kept by engines as a chain of its parts, which for the id of a container is 1.6 kB.
 */
export function randomDigits(random: Random, length: number): string {
  const codes: number[] = [];
  for (let count = 0; count < length; count++) {
    codes.push(hexCodes[randomInteger(random, 0, 16)] as number);
  }
  return String.fromCharCode(...codes);
}

/** A version 4 UUID drawn from `random`. */
export function randomUid(random: Random): string {
  const text = randomDigits(random, 32);
  const variant = '89ab'[randomInteger(random, 0, 4)] ?? '8';
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    `4${text.slice(13, 16)}`,
    `${variant}${text.slice(17, 20)}`,
    text.slice(20),
  ].join('-');
}

/** No vowels and no look-alikes, as the real server's generated names. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** The five characters appended to `metadata.generateName`. */
export function randomSuffix(random: Random): string {
  return Array.from(
    { length: 5 },
    () => nameAlphabet[randomInteger(random, 0, nameAlphabet.length)],
  ).join('');
}
