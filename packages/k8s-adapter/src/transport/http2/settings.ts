// The settings of HTTP/2 (RFC 9113, section 6.5.2).
import { numberAt, ProtocolError, payloadBytesMax } from './frames.ts';

export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  streams: 3,
  initialWindow: 4,
  frameSize: 5,
  headerListSize: 6,
} as const;

export const windowMax: number = 2 ** 31 - 1;
/** The length of a frame has 24 bits. */
const frameBytesMax = 2 ** 24 - 1;
const settingBytes = 6;

/** What a server sets, in its order; what is not known means nothing. Throws ProtocolError. */
export function settingsIn(payload: Uint8Array): readonly (readonly [id: number, value: number])[] {
  const set: [id: number, value: number][] = [];
  for (let at = 0; at + settingBytes <= payload.length; at += settingBytes) {
    const [id, value] = [numberAt(payload, at, 2), numberAt(payload, at + 2, 4)];
    if (id === settingIds.initialWindow && value > windowMax) {
      throw new ProtocolError('a window without bounds');
    }
    if (id === settingIds.frameSize && (value < payloadBytesMax || value > frameBytesMax)) {
      throw new ProtocolError(`frames of ${value} bytes`);
    }
    set.push([id, value]);
  }
  return set;
}
