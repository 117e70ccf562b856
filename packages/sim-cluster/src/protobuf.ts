import { entry, type JsonObject } from './json.ts';
import type { Json } from './objects.ts';

/**
 * The few request bodies that kubectl sends as protobuf with no way back to JSON. Answers are
 * always JSON, so nothing is written here, only read.
 */
type FieldType = 'string' | 'strings' | 'integer' | 'boolean' | 'stringMap' | Message;

interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: FieldType];
}

const OBJECT_META: Message = {
  1: ['name', 'string'],
  2: ['generateName', 'string'],
  3: ['namespace', 'string'],
  5: ['uid', 'string'],
  6: ['resourceVersion', 'string'],
  11: ['labels', 'stringMap'],
  12: ['annotations', 'stringMap'],
};

const RESOURCE_ATTRIBUTES: Message = {
  1: ['namespace', 'string'],
  2: ['verb', 'string'],
  3: ['group', 'string'],
  4: ['version', 'string'],
  5: ['resource', 'string'],
  6: ['subresource', 'string'],
  7: ['name', 'string'],
};

const KINDS: Readonly<Record<string, Message>> = {
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'integer'],
    2: ['preconditions', { 1: ['uid', 'string'], 2: ['resourceVersion', 'string'] }],
    3: ['orphanDependents', 'boolean'],
    4: ['propagationPolicy', 'string'],
    5: ['dryRun', 'strings'],
  },
  Namespace: { 1: ['metadata', OBJECT_META] },
  SelfSubjectReview: { 1: ['metadata', OBJECT_META] },
  SelfSubjectAccessReview: {
    1: ['metadata', OBJECT_META],
    2: [
      'spec',
      {
        1: ['resourceAttributes', RESOURCE_ATTRIBUTES],
        2: ['nonResourceAttributes', { 1: ['path', 'string'], 2: ['verb', 'string'] }],
      },
    ],
  },
  SelfSubjectRulesReview: {
    1: ['metadata', OBJECT_META],
    2: ['spec', { 1: ['namespace', 'string'] }],
  },
};

const ENVELOPE: Message = {
  1: ['typeMeta', { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] }],
};
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Reads a body as JSON; null when it is damaged or of a kind that is not known in this form. */
export function decodeProtobuf(body: Uint8Array): Json | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const envelope = readFields(bytes.subarray(MAGIC.length));
  if (!envelope) return null;
  const { typeMeta } = readMessage(ENVELOPE, envelope);
  const { kind, apiVersion } = (typeMeta ?? {}) as Readonly<Record<string, string>>;
  const message = entry(KINDS, kind ?? '');
  const raw = envelope.findLast((field) => field.number === 2)?.value;
  const fields = raw instanceof Uint8Array ? readFields(raw) : [];
  if (!message || !fields) return null;
  return {
    ...(kind ? { kind } : {}),
    ...(apiVersion ? { apiVersion } : {}),
    ...readMessage(message, fields),
  };
}

interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** The fields of a message as they lie on the wire; null when it is damaged. */
function readFields(bytes: Uint8Array): readonly WireField[] | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; at < buffer.length && shift < 70n; shift += 7n) {
      const byte = buffer[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    at = buffer.length + 1;
    return 0n;
  };
  while (at < buffer.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 2) {
      const length = Number(varint());
      fields.push({ number, value: buffer.subarray(at, at + length) });
      at += length;
    } else return null;
  }
  return at === buffer.length ? fields : null;
}

/** Empty strings are sent explicitly and mean absent; a zero grace period means zero. */
function readMessage(message: Message, fields: readonly WireField[]): JsonObject {
  const result: JsonObject = {};
  for (const { number, value } of fields) {
    const [name, type] = message[number] ?? [];
    if (name === undefined || type === undefined) continue;
    const read = readValue(type, value, result[name]);
    if (read !== undefined) result[name] = read;
  }
  return result;
}

function readValue(
  type: FieldType,
  value: bigint | Buffer,
  before: Json | undefined,
): Json | undefined {
  if (typeof value === 'bigint') {
    if (type === 'boolean') return value !== 0n;
    return type === 'integer' ? Number(BigInt.asIntN(64, value)) : undefined;
  }
  if (type === 'string') return value.length > 0 ? value.toString() : undefined;
  if (type === 'strings') return [...((before as readonly Json[]) ?? []), value.toString()];
  if (type === 'integer' || type === 'boolean') return undefined;
  const fields = readFields(value);
  if (!fields) return undefined;
  if (type !== 'stringMap') return readMessage(type, fields);
  const { key, value: text } = readMessage(
    { 1: ['key', 'string'], 2: ['value', 'string'] },
    fields,
  );
  return { ...(before as JsonObject), [String(key ?? '')]: text ?? '' };
}
