// Makes texts small, by gzip.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Compression } from '../history/segment.ts';

/** A block has 64 KiB before it is packed; whoever writes more wants to fill our memory. */
const lengthMax = 4 * 2 ** 20;

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
