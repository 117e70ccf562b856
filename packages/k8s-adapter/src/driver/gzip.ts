// Makes texts small, by gzip.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Compression } from '../history/segment.ts';

/**
 * A block has 65,536 characters before it is packed; a larger one is an attack on our memory, or
 * our time.
 */
const lengthMax = 2 ** 18;

/** Text packed by gzip, as base64. */
export const gzip: Compression = {
  pack: (text) => gzipSync(text).toString('base64'),
  unpack(packed) {
    try {
      const bytes = Buffer.from(packed, 'base64');
      return gunzipSync(bytes, { maxOutputLength: lengthMax }).toString('utf8');
    } catch {
      return null;
    }
  },
};
