// The segments in which a leader keeps departures: ConfigMaps of its namespace, a ring of them.
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  asInteger,
  asRecord,
  asText,
  isRecord,
  type JsonRecord,
  parseJson,
} from '../proto/json.ts';
import type { LeaseName } from '../proto/lease-requests.ts';

/** The part of a uid by which later lines name it: enough to tell apart all that the ring has room for. */
export function shortUid(uid: string): string {
  return uid.slice(0, 13);
}

/** Makes texts small. */
export interface Compression {
  /** Base64 of the text in gzip. */
  pack(text: string): string;
  /** The text; null for any other value. */
  unpack(packed: string): string | null;
}

/** A ConfigMap of the ring. */
export interface Segment {
  /** From 0, one more with each segment; the slot is its remainder by the number of slots. */
  readonly sequence: number;
  /** All that the leader knew then is written. */
  readonly savedAt: Instant;
  /** The leader that wrote it last; '': unknown. */
  readonly savedBy: string;
  /** That leader has ended in order: nothing of it is missing. */
  readonly ended: boolean;
  /** Lines of JSON, packed. */
  readonly blocks: readonly string[];
}

/** The number of slots of the ring. The rights in deploy/ name each. */
export const segmentSlots = 24;

/** The ConfigMaps of a controller, by its lease of the election. */
export function segmentNames({ namespace, name }: LeaseName): readonly LeaseName[] {
  return Array.from({ length: segmentSlots }, (_, slot) => ({
    namespace,
    name: `${name}-history-${slot}`,
  }));
}

/** Where a ConfigMap is. */
export function segmentPath({ namespace, name }: LeaseName): string {
  return `${segmentsPath(namespace)}/${encodeURIComponent(name)}`;
}

export function segmentsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
}

const head = 'segment';

/** The ConfigMap of a segment. `resourceVersion`: as it was read; null: there is none yet. */
export function segmentObject(
  { namespace, name }: LeaseName,
  { blocks, ...facts }: Segment,
  resourceVersion: string | null,
): object {
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { namespace, name, ...(resourceVersion !== null && { resourceVersion }) },
    data: { [head]: JSON.stringify(facts) },
    binaryData: Object.fromEntries(blocks.map((block, at) => [`block-${at}`, block])),
  };
}

/** Reads a segment; null for any other ConfigMap, such as one of another owner. */
export function segmentFrom(object: unknown): Segment | null {
  const { data, binaryData } = asRecord(object);
  const facts = asRecord(parseJson(asText(asRecord(data)[head])));
  const [sequence, savedAt] = [asInteger(facts.sequence), asInteger(facts.savedAt)];
  if (sequence === null || sequence < 0 || sequence > sequenceMax || savedAt === null) return null;
  const packed = asRecord(binaryData);
  const blocks: string[] = [];
  for (let at = 0; typeof packed[`block-${at}`] === 'string'; at++) {
    blocks.push(asText(packed[`block-${at}`]));
  }
  return { sequence, savedAt, savedBy: asText(facts.savedBy), ended: facts.ended === true, blocks };
}

/** A second each for longer than there are clusters. */
const sequenceMax = 1e12;
/** Clocks of API servers differ by less. */
const aheadMsMax: Millis = 300_000;

/**
 * Tells whether a leader can have written it by now: a client that may write ConfigMaps there can
 * write any numbers. No leader has begun more than one segment a second since 1970, so that the
 * next one is believed too.
 */
export function isBelievable(
  { sequence, savedAt }: Pick<Segment, 'sequence' | 'savedAt'>,
  now: Instant,
): boolean {
  return savedAt <= now + aheadMsMax && sequence <= now / 1_000;
}

/** The lines of a block, each an object; other values are left out. */
export function linesOf(block: string, compression: Compression): readonly JsonRecord[] {
  const lines = (compression.unpack(block) ?? '').split('\n');
  return lines.map((line) => (line === '' ? null : parseJson(line))).filter(isRecord);
}
