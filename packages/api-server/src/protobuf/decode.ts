// Reads the request bodies that are sent as protobuf with no way back to JSON.

import type { Json } from '@taintmgr/sim-cluster/server';
import { formatTime, isObject, type JsonObject } from '@taintmgr/sim-cluster/server';
import { bodyFields } from './body-kinds.ts';
import { type Fields, type FieldType, isPointer, isRepeated } from './fields.ts';

const envelopeFields: Fields = {
  typeMeta: [1, { apiVersion: [1, 'string'], kind: [2, 'string'] }],
};
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * Reads a body as JSON; null when it is damaged, of a kind that is not known in this form, or says
 * more than is known of its kind.
 */
export function decodeProtobuf(body: Uint8Array): Json | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!bytes.subarray(0, magic.length).equals(magic)) return null;
  const envelope = readWire(bytes.subarray(magic.length));
  if (!envelope) return null;
  const { typeMeta } = readMessage(envelopeFields, envelope);
  const { kind = '', apiVersion = '' } = (typeMeta ?? {}) as Readonly<Record<string, string>>;
  const fields = bodyFields(apiVersion, kind);
  const raw = envelope.findLast((field) => field.number === 2)?.value;
  const wire = raw instanceof Uint8Array ? readWire(raw) : [];
  if (!fields || !wire || !isKnown(fields, wire)) return null;
  return {
    ...(kind ? { kind } : {}),
    ...(apiVersion ? { apiVersion } : {}),
    ...readMessage(fields, wire),
  };
}

interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

type Wire = readonly WireField[];

/** The fields of a message as they lie on the wire; null when it is damaged. */
function readWire(bytes: Uint8Array): Wire | null {
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

type Numbered = ReadonlyMap<number, readonly [name: string, type: FieldType]>;

const numbered = new WeakMap<Fields, Numbered>();

function byNumber(fields: Fields): Numbered {
  let known = numbered.get(fields);
  if (!known) {
    const entries = Object.entries(fields).map(
      ([name, [number, type]]) => [number, [name, type] as const] as const,
    );
    known = new Map(entries);
    numbered.set(fields, known);
  }
  return known;
}

/** The fields of the message in a field; null for one that holds no message of ours. */
function inside(type: FieldType): Fields | null {
  if (typeof type === 'string') return null;
  if (isRepeated(type)) return type[0];
  return isPointer(type) ? type.pointer : type;
}

/** True if the tables know every field that is set. */
function isKnown(fields: Fields, wire: Wire): boolean {
  const known = byNumber(fields);
  return wire.every(({ number, value }) => {
    const type = known.get(number)?.[1];
    if (type === undefined) return isVoid(value);
    const inner = inside(type);
    if (inner === null || typeof value === 'bigint') return true;
    const innerWire = readWire(value);
    return innerWire !== null && isKnown(inner, innerWire);
  });
}

/**
 * True for an empty value. Members that are not set are still sent, as nothing or as messages of
 * nothing.
 */
function isVoid(value: bigint | Buffer, depthLeft: number = voidDepthMax): boolean {
  if (typeof value === 'bigint') return value === 0n;
  if (depthLeft === 0) return false;
  return readWire(value)?.every((field) => isVoid(field.value, depthLeft - 1)) ?? false;
}

/** No kind nests its empty members deeper. */
const voidDepthMax = 10;

/** An empty value is sent explicitly and means absent, except for a pointer that is given. */
function readMessage(fields: Fields, wire: Wire): JsonObject {
  const known = byNumber(fields);
  const result: JsonObject = {};
  for (const { number, value } of wire) {
    const [name, type] = known.get(number) ?? [];
    if (name === undefined || type === undefined) continue;
    const read = readValue(type, value, result[name]);
    if (read === undefined) continue;
    // JSON has these members in the surrounding message.
    if (name === '') Object.assign(result, read);
    else result[name] = read;
  }
  return result;
}

function readValue(
  type: FieldType,
  value: bigint | Buffer,
  before: Json | undefined,
): Json | undefined {
  if (typeof value === 'bigint') return readNumber(type, value, before);
  if (typeof type === 'string') return readScalar(type, value, before);
  const fields = inside(type);
  const wire = readWire(value);
  if (!fields || !wire) return undefined;
  const message = readMessage(fields, wire);
  return isRepeated(type) ? [...((before as readonly Json[]) ?? []), message] : message;
}

function readNumber(type: FieldType, value: bigint, before: Json | undefined): Json | undefined {
  if (value === 0n && (type === 'boolean' || type === 'integer')) return undefined;
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('boolean')) return value !== 0n;
  const number = Number(BigInt.asIntN(64, value));
  if (type === 'integers') return [...((before as readonly Json[]) ?? []), number];
  return type.startsWith('integer') ? number : undefined;
}

function readScalar(
  type: Extract<FieldType, string>,
  value: Buffer,
  before: Json | undefined,
): Json | undefined {
  switch (type) {
    case 'string':
      return value.length > 0 ? value.toString() : undefined;
    case 'string*':
      return value.toString();
    case 'strings':
      return [...((before as readonly Json[]) ?? []), value.toString()];
    case 'bytes':
      return value.length > 0 ? value.toString('base64') : undefined;
    case 'time':
    case 'time*':
      return readTime(value, 0);
    case 'microTime*':
      return readTime(value, microDigits);
    case 'stringMap':
    case 'bytesMap':
    case 'quantityMap':
    case 'timeMap':
      return readPair(type, value, before);
    case 'quantity*':
      return readText(value);
    case 'intOrString':
    case 'intOrString*':
      return readIntOrString(value) || (type === 'intOrString*' ? 0 : undefined);
    case 'json*':
      return readJson(value);
    default:
      return undefined;
  }
}

const microDigits = 6;
const intOrString: Fields = { number: [2, 'integer'], text: [3, 'string'] };

/** One of the two fields is empty. */
function readIntOrString(value: Buffer): Json {
  const { number = 0, text } = readMessage(intOrString, readWire(value) ?? []);
  return text ?? number;
}

/** The zero time has no fields. */
function readTime(value: Buffer, digits: number): Json | undefined {
  const { seconds, nanos = 0 } = readMessage(timeFields, readWire(value) ?? []);
  if (typeof seconds !== 'number') return undefined;
  const whole = formatTime(seconds * 1000).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const fraction = String(nanos).padStart(9, '0').slice(0, digits);
  return `${whole}${digits > 0 ? `.${fraction}` : ''}Z`;
}

const timeFields: Fields = { seconds: [1, 'integer*'], nanos: [2, 'integer'] };

/** The text in the first field of a message. */
function readText(value: Buffer): string | undefined {
  const { text } = readMessage({ text: [1, 'string'] }, readWire(value) ?? []);
  return typeof text === 'string' ? text : undefined;
}

function readJson(value: Buffer): Json | undefined {
  try {
    const read: unknown = JSON.parse(readText(value) ?? '');
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** A map is a list of pairs. */
function readPair(type: string, value: Buffer, before: Json | undefined): Json {
  const wire = readWire(value) ?? [];
  const part = (number: number): Buffer => {
    const found = wire.find((field) => field.number === number)?.value;
    return found instanceof Buffer ? found : Buffer.alloc(0);
  };
  const raw = part(2);
  const member =
    type === 'stringMap'
      ? raw.toString()
      : type === 'bytesMap'
        ? raw.toString('base64')
        : type === 'timeMap'
          ? (readTime(raw, 0) ?? null)
          : (readText(raw) ?? '');
  return { ...(before as JsonObject), [part(1).toString()]: member };
}
