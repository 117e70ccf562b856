import { entry, type JsonObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import { type BodyFieldType, type Message, protobufKinds } from './body-kinds.ts';

/**
 * Reads the request bodies that kubectl sends as protobuf with no way back to JSON.
 */

const envelopeMessage: Message = {
  1: ['typeMeta', { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] }],
};
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * Reads a body as JSON; null when it is damaged, of a kind that is not known in this form, or says
 * more than is known of its kind.
 */
export function decodeProtobuf(body: Uint8Array): Json | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!bytes.subarray(0, magic.length).equals(magic)) return null;
  const envelope = readFields(bytes.subarray(magic.length));
  if (!envelope) return null;
  const { typeMeta } = readMessage(envelopeMessage, envelope);
  const { kind, apiVersion } = (typeMeta ?? {}) as Readonly<Record<string, string>>;
  const message = entry(protobufKinds, kind ?? '');
  const raw = envelope.findLast((field) => field.number === 2)?.value;
  const fields = raw instanceof Uint8Array ? readFields(raw) : [];
  if (!message || !fields || !isKnown(message, fields)) return null;
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

/** Whether the tables know every field that is set. */
function isKnown(message: Message, fields: readonly WireField[]): boolean {
  return fields.every(({ number, value }) => {
    const type = message[number]?.[1];
    if (type === undefined) return isVoid(value);
    if (typeof type === 'string' || typeof value === 'bigint') return true;
    const inner = readFields(value);
    return inner !== null && isKnown(messageOf(type), inner);
  });
}

/** Members that are not set are sent all the same: as nothing, or as messages of nothing. */
function isVoid(value: bigint | Buffer, depthLeft: number = voidDepthMax): boolean {
  if (typeof value === 'bigint') return value === 0n;
  if (depthLeft === 0) return false;
  return readFields(value)?.every((field) => isVoid(field.value, depthLeft - 1)) ?? false;
}

/** No kind nests its empty members deeper. */
const voidDepthMax = 10;

function messageOf(type: Message | readonly [Message]): Message {
  return isRepeated(type) ? type[0] : type;
}

function isRepeated(type: Message | readonly [Message]): type is readonly [Message] {
  return Array.isArray(type);
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
  type: BodyFieldType,
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
  if (type === 'stringMap') {
    const pair = readMessage({ 1: ['key', 'string'], 2: ['value', 'string'] }, fields);
    return { ...(before as JsonObject), [String(pair.key ?? '')]: pair.value ?? '' };
  }
  if (type === 'intOrString') {
    const { number = 0, text } = readMessage(intOrString, fields);
    return text ?? number;
  }
  const message = readMessage(messageOf(type), fields);
  return isRepeated(type) ? [...((before as readonly Json[]) ?? []), message] : message;
}

const intOrString: Message = { 2: ['number', 'integer'], 3: ['text', 'string'] };
