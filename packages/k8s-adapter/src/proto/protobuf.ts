import { formatTime, formatTimeMillis } from '@taintmgr/core';
import type { ResponseHeaders } from './answer.ts';
import type { JsonRecord } from './json.ts';
import { ProtobufError, ProtobufReader } from './protobuf-reader.ts';
import { type FieldType, type Message, protobufKinds } from './protobuf-schema.ts';
import type { ApiRequest } from './request.ts';

/** The media type of Kubernetes' protobuf; a watch adds a parameter to it. */
const protobufType = 'application/vnd.kubernetes.protobuf';

/** The request with the wish for an answer in protobuf, and JSON where the server has none. */
export function preferProtobuf(request: ApiRequest): ApiRequest {
  const accept = `${protobufType},application/json`;
  return { ...request, headers: { ...request.headers, accept } };
}

/** Whether an answer is in protobuf, by the server's own word. */
export function isProtobuf(headers: ResponseHeaders): boolean {
  return headers['content-type']?.startsWith(protobufType) ?? false;
}

/** The bytes of all, one after the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...rest] = parts.filter(({ length }) => length > 0);
  if (rest.length === 0) return first;
  const whole = new Uint8Array(rest.reduce((sum, { length }) => sum + length, first.length));
  whole.set(first);
  let at = first.length;
  for (const part of rest) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** `k8s\0`, which every object begins with. */
const magic = [0x6b, 0x38, 0x73, 0x00];

/**
 * Reads an API object in Kubernetes' protobuf as JSON would have it: of the kinds that are known
 * the fields that are looked at, which is much less work than reading all of them. Null for
 * anything else.
 */
export function objectFromProtobuf(bytes: Uint8Array): JsonRecord | null {
  if (!magic.every((byte, index) => bytes[index] === byte)) return null;
  return attempt(() => {
    const { kind, raw } = envelopeOf(new ProtobufReader(bytes, magic.length));
    const message = protobufKinds[kind];
    return message ? { kind, ...read(new ProtobufReader(raw), message) } : null;
  });
}

/** Reads a WatchEvent: its type, and the bytes of its object. Null for anything else. */
export function watchEventFromProtobuf(
  bytes: Uint8Array,
): { readonly type: string; readonly object: Uint8Array } | null {
  return attempt(() => {
    let type = '';
    let object: Uint8Array = new Uint8Array();
    eachField(new ProtobufReader(bytes), (field, reader) => {
      if (field === 1) type = reader.text();
      else if (field === 2) object = rawOf(reader.message());
      else reader.skip();
    });
    return { type, object };
  });
}

/** runtime.Unknown: what it is, and the bytes of it. */
function envelopeOf(reader: ProtobufReader): { kind: string; raw: Uint8Array } {
  let kind = '';
  let raw: Uint8Array = new Uint8Array();
  eachField(reader, (field) => {
    if (field === 1) kind = String(read(reader.message(), { 2: ['kind', 'text'] }).kind ?? '');
    else if (field === 2) raw = reader.bytes();
    else reader.skip();
  });
  return { kind, raw };
}

/** runtime.RawExtension. */
function rawOf(reader: ProtobufReader): Uint8Array {
  let raw: Uint8Array = new Uint8Array();
  eachField(reader, (field) => {
    if (field === 1) raw = reader.bytes();
    else reader.skip();
  });
  return raw;
}

function read(reader: ProtobufReader, message: Message): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  eachField(reader, (field) => {
    const [name, type] = message[field] ?? [];
    if (name === undefined || type === undefined) reader.skip();
    else if (name === '' && typeof type === 'object' && !isRepeated(type)) {
      Object.assign(object, read(reader.message(), type));
    } else put(object, name, type, reader);
  });
  return object;
}

function put(
  object: Record<string, unknown>,
  name: string,
  type: FieldType,
  reader: ProtobufReader,
): void {
  switch (type) {
    case 'text':
      // Written even where it is empty, and JSON leaves it out.
      object[name] = reader.text() || undefined;
      break;
    case 'texts':
      listIn(object, name).push(reader.text());
      break;
    case 'textMap':
      putEntry(object, name, reader.message());
      break;
    case 'integer':
      object[name] = reader.integer();
      break;
    case 'boolean':
      object[name] = reader.integer() !== 0;
      break;
    case 'time':
    case 'microTime':
      object[name] = timeOf(reader.message(), type);
      break;
    default:
      if (isRepeated(type)) listIn(object, name).push(read(reader.message(), type[0]));
      else object[name] = read(reader.message(), type);
  }
}

function isRepeated(type: Message | readonly [Message]): type is readonly [Message] {
  return Array.isArray(type);
}

function listIn(object: Record<string, unknown>, name: string): unknown[] {
  const known = object[name];
  if (Array.isArray(known)) return known;
  const list: unknown[] = [];
  object[name] = list;
  return list;
}

const mapEntry: Message = { 1: ['key', 'text'], 2: ['value', 'text'] };

function putEntry(object: Record<string, unknown>, name: string, reader: ProtobufReader): void {
  const { key, value } = read(reader, mapEntry);
  // Without a prototype every key is one of the map's own, whatever it is called.
  const map: Record<string, unknown> = (object[name] as never) ?? Object.create(null);
  map[String(key ?? '')] = value ?? '';
  object[name] = map;
}

/** As JSON writes it; undefined for the zero time, which has no fields. */
function timeOf(reader: ProtobufReader, type: 'time' | 'microTime'): string | undefined {
  let seconds: number | null = null;
  let nanos = 0;
  eachField(reader, (field) => {
    if (field === 1) seconds = reader.integer();
    else if (field === 2) nanos = reader.integer();
    else reader.skip();
  });
  if (seconds === null) return undefined;
  return type === 'time'
    ? formatTime(seconds * 1000)
    : formatTimeMillis(seconds * 1000 + nanos / 1_000_000);
}

function eachField(
  reader: ProtobufReader,
  take: (field: number, reader: ProtobufReader) => void,
): void {
  for (let field = reader.next(); field !== null; field = reader.next()) take(field, reader);
}

function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ProtobufError) return null;
    throw error;
  }
}
