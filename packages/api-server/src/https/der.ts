/** DER, the encoding of certificates: each value is a tag, a length and its content. */
export type Der = Buffer;

function tagged(tag: number, content: Uint8Array): Der {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(
    length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'),
    'hex',
  );
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content]);
}

/** SEQUENCE. */
export function sequence(...items: readonly Der[]): Der {
  return tagged(0x30, Buffer.concat(items));
}

/** SET. */
export function setOf(...items: readonly Der[]): Der {
  return tagged(0x31, Buffer.concat(items));
}

/** INTEGER from big-endian bytes of a number that is not negative. */
export function integer(bytes: Uint8Array): Der {
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return tagged(0x02, positive);
}

/** BOOLEAN TRUE. */
export function yes(): Der {
  return tagged(0x01, Buffer.from([0xff]));
}

/** OCTET STRING. */
export function octets(content: Uint8Array): Der {
  return tagged(0x04, content);
}

/** BIT STRING; `unused` is the number of bits that do not count in the last byte. */
export function bits(content: Uint8Array, unused: number = 0): Der {
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

/** UTF8String. */
export function text(value: string): Der {
  return tagged(0x0c, Buffer.from(value));
}

/** A context-specific element, constructed from others or primitive. */
export function context(number: number, content: Uint8Array, constructed: boolean): Der {
  return tagged((constructed ? 0xa0 : 0x80) | number, content);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** UTCTime, good for the years up to 2049. */
export function utcTime(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}
