// Objects and watch events in Kubernetes' protobuf, as far as they are looked at, and the fields that are, by number.
import { protobufType } from './answer.ts';
import { asRecord, asText, isRecord, type JsonRecord } from './json.ts';
import type { ApiRequest } from './requests.ts';

/**
 * The type of a field; a list of one message is that message, repeated. Words are texts that many
 * objects share.
 */
type FieldType =
  | 'text'
  | 'word'
  | 'words'
  | 'wordMap'
  /** resource.Quantity, which is its text. */
  | 'quantity'
  | 'quantityMap'
  | 'integer'
  | 'boolean'
  | 'bytes'
  | Message
  | readonly [Message];

/**
 * The fields of a message that are kept, by their numbers; all others are skipped unread. A message
 * without a name has its fields stand in the one around it, as JSON has them.
 */
export interface Message {
  readonly [fieldNumber: number]: readonly [name: string, type: FieldType];
}

/** metav1.Time; fractions of a second are ignored, as JSON does not have them. */
const time: Message = { 1: ['seconds', 'integer'] };

const microTime: Message = { 1: ['seconds', 'integer'], 2: ['nanos', 'integer'] };

const ownerReference: Message = {
  1: ['kind', 'word'],
  3: ['name', 'word'],
  5: ['apiVersion', 'word'],
  6: ['controller', 'boolean'],
};

/** Of metav1.ObjectMeta what tells one state of one object from another. */
const identityMessage: Message = {
  1: ['name', 'text'],
  3: ['namespace', 'word'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
};

const objectMeta: Message = {
  ...identityMessage,
  7: ['generation', 'integer'],
  8: ['creationTimestamp', time],
  9: ['deletionTimestamp', time],
  11: ['labels', 'wordMap'],
  12: ['annotations', 'wordMap'],
  13: ['ownerReferences', [ownerReference]],
};

/** metav1.ManagedFieldsEntry; the fields are JSON, which is read where it matters. */
const managedFieldsEntry: Message = {
  1: ['manager', 'word'],
  4: ['time', time],
  7: ['fieldsV1', { 1: ['raw', 'bytes'] }],
  8: ['subresource', 'word'],
};

const condition: Message = {
  1: ['type', 'word'],
  2: ['status', 'word'],
  4: ['lastTransitionTime', time],
  5: ['reason', 'word'],
};

const nodeCondition: Message = {
  ...condition,
  3: ['lastHeartbeatTime', time],
  5: ['reason', 'word'],
  6: ['message', 'word'],
};

const taint: Message = {
  1: ['key', 'word'],
  2: ['value', 'word'],
  3: ['effect', 'word'],
  4: ['timeAdded', time],
};

const toleration: Message = {
  1: ['key', 'word'],
  2: ['operator', 'word'],
  3: ['value', 'word'],
  4: ['effect', 'word'],
  5: ['tolerationSeconds', 'integer'],
};

const labelSelector: Message = {
  1: ['matchLabels', 'wordMap'],
  2: [
    'matchExpressions',
    [{ 1: ['key', 'word'], 2: ['operator', 'word'], 3: ['values', 'words'] }],
  ],
};

const statusDetails: Message = {
  1: ['name', 'text'],
  3: ['kind', 'word'],
  4: ['causes', [{ 1: ['reason', 'word'], 2: ['message', 'text'], 3: ['field', 'text'] }]],
  5: ['retryAfterSeconds', 'integer'],
};

const ownedMeta: Message = { ...objectMeta, 17: ['managedFields', [managedFieldsEntry]] };

const resourceClaim: Message = {
  1: ['name', 'word'],
  3: ['resourceClaimName', 'text'],
};

/** A Pod with the fields that `convert.ts` looks at, and these. */
export function podMessage(more: { readonly spec?: Message; readonly status?: Message }): Message {
  return {
    1: ['metadata', ownedMeta],
    2: [
      'spec',
      {
        1: ['volumes', [{ 2: ['', { 2: ['emptyDir', {}] }] }]],
        4: ['terminationGracePeriodSeconds', 'integer'],
        10: ['nodeName', 'word'],
        22: ['tolerations', [toleration]],
        24: ['priorityClassName', 'word'],
        25: ['priority', 'integer'],
        39: ['resourceClaims', [resourceClaim]],
        ...more.spec,
      },
    ],
    3: [
      'status',
      {
        1: ['phase', 'word'],
        2: ['conditions', [condition]],
        7: ['startTime', time],
        15: ['resourceClaimStatuses', [{ 1: ['name', 'word'], 2: ['resourceClaimName', 'text'] }]],
        18: ['extendedResourceClaimStatus', { 2: ['resourceClaimName', 'text'] }],
        ...more.status,
      },
    ],
  };
}

/** A Node with the fields that `convert.ts` looks at, and these of its status. */
export function nodeMessage(status: Message): Message {
  return {
    1: ['metadata', ownedMeta],
    2: ['spec', { 4: ['unschedulable', 'boolean'], 5: ['taints', [taint]] }],
    3: ['status', { 4: ['conditions', [nodeCondition]], ...status }],
  };
}

/** The messages that are read, by kind. */
export type Kinds = Readonly<Record<string, Message>>;

/** The kinds that are read, with the fields that `convert.ts` and `answer.ts` look at. */
export const protobufKinds: Kinds = {
  Pod: podMessage({}),
  Node: nodeMessage({}),
  Lease: { 1: ['metadata', objectMeta], 2: ['spec', { 4: ['renewTime', microTime] }] },
  DaemonSet: { 1: ['metadata', objectMeta], 2: ['spec', { 1: ['selector', labelSelector] }] },
  PartialObjectMetadata: { 1: ['metadata', identityMessage] },
  Status: {
    2: ['status', 'word'],
    3: ['message', 'text'],
    4: ['reason', 'word'],
    5: ['details', statusDetails],
    6: ['code', 'integer'],
  },
};

/** The request with the wish for an answer in protobuf, and JSON where the server has none. */
export function preferProtobuf(request: ApiRequest): ApiRequest {
  const accept = `${protobufType},application/json`;
  return { ...request, headers: { ...request.headers, accept } };
}

/** The bytes of all, one after the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const only = parts[0];
  if (only && parts.length === 1) return only;
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

/** Longer parts are kept as they are. */
const joinedBytesMax = 4096;

/**
 * Keeps one part more. Small ones are joined, two of about a size at a time: what is kept of a part, and of what it
 * was cut out of, is many times as long as a byte.
 */
export function keepBytes(parts: Uint8Array[], part: Uint8Array): void {
  let last = part;
  for (let before = parts.at(-1); before; before = parts.at(-1)) {
    if (before.length >= joinedBytesMax || before.length > 2 * last.length) break;
    parts.pop();
    last = joinBytes([before, last]);
  }
  parts.push(last);
}

/** `k8s\0`, which every object begins with. */
const magic = [0x6b, 0x38, 0x73, 0x00];

/**
 * Reads an API object in Kubernetes' protobuf as JSON would have it, but for times, which are
 * seconds and nanoseconds: of the kinds that are known the fields that are looked at, which is much less
 * work than reading all of them. Null for anything else.
 */
export function objectFromProtobuf(
  bytes: Uint8Array,
  kinds: Kinds = protobufKinds,
): JsonRecord | null {
  return attempt(() => readObject(bytes, kinds));
}

/**
 * Reads a WatchEvent: its type, and its object where that can be read, of which only its identity
 * matters once it is gone. Null for anything else.
 */
export function watchEventFromProtobuf(
  bytes: Uint8Array,
  kinds: Kinds = protobufKinds,
): { readonly type: string; readonly object: JsonRecord | null } | null {
  return attempt(() => {
    const event = read(new ProtobufReader(bytes), watchEvent);
    const type = asText(event.type);
    const { raw } = asRecord(event.object);
    const message = type === 'DELETED' ? identified : null;
    const object = raw instanceof Uint8Array ? readObject(raw, kinds, message) : null;
    return { type, object };
  });
}

const watchEvent: Message = { 1: ['type', 'word'], 2: ['object', { 1: ['raw', 'bytes'] }] };

/** The fields that tell one state of an object of any kind from another. */
const identified: Message = { 1: ['metadata', identityMessage] };

/** runtime.Unknown: its type, and its bytes. */
const envelope: Message = { 1: ['typeMeta', { 2: ['kind', 'word'] }], 2: ['raw', 'bytes'] };

/**
 * `only`: the fields to read in place of those of its kind; the kind has to be known nevertheless.
 */
function readObject(
  bytes: Uint8Array,
  kinds: Kinds,
  only: Message | null = null,
): JsonRecord | null {
  for (let at = 0; at < magic.length; at++) if (bytes[at] !== magic[at]) return null;
  const { typeMeta, raw } = read(new ProtobufReader(bytes, magic.length), envelope);
  const kind = asText(asRecord(typeMeta).kind);
  const message = kinds[kind];
  if (!message || !(raw instanceof Uint8Array)) return null;
  return read(new ProtobufReader(raw), only ?? message, { kind });
}

type Building = Record<string, unknown>;

function read(reader: ProtobufReader, message: Message, object: Building = {}): Building {
  for (let field = reader.next(); field !== null; field = reader.next()) {
    const entry = message[field];
    if (entry === undefined) reader.skip();
    else put(object, entry[0], entry[1], reader);
  }
  return object;
}

function readInside(reader: ProtobufReader, message: Message, object: Building = {}): Building {
  const outer = reader.enter();
  read(reader, message, object);
  reader.leave(outer);
  return object;
}

function put(object: Building, name: string, type: FieldType, reader: ProtobufReader): void {
  switch (type) {
    // Texts are written even where they are empty, and JSON leaves them out.
    case 'text':
      object[name] = reader.text() || undefined;
      break;
    case 'word':
      object[name] = reader.word() || undefined;
      break;
    case 'words':
      listIn(object, name).push(reader.word());
      break;
    case 'wordMap':
      putEntry(object, name, readInside(reader, wordEntry));
      break;
    case 'quantityMap':
      putEntry(object, name, readInside(reader, quantityEntry));
      break;
    case 'quantity':
      object[name] = readInside(reader, quantity).value;
      break;
    case 'integer':
      object[name] = reader.integer();
      break;
    case 'boolean':
      object[name] = reader.integer() !== 0;
      break;
    case 'bytes':
      object[name] = reader.bytes();
      break;
    default:
      if (isRepeated(type)) listIn(object, name).push(readInside(reader, type[0]));
      else if (name === '') readInside(reader, type, object);
      else object[name] = readInside(reader, type);
  }
}

function isRepeated(type: Message | readonly [Message]): type is readonly [Message] {
  return Array.isArray(type);
}

function listIn(object: Building, name: string): unknown[] {
  const known = object[name];
  if (Array.isArray(known)) return known;
  const list: unknown[] = [];
  object[name] = list;
  return list;
}

const quantity: Message = { 1: ['value', 'word'] };
const wordEntry: Message = { 1: ['key', 'word'], 2: ['value', 'word'] };
const quantityEntry: Message = { 1: ['key', 'word'], 2: ['', quantity] };

function putEntry(object: Building, name: string, { key, value }: Building): void {
  const known = object[name];
  // Without a prototype every key is one of the map's own, whatever it is called.
  const map: Building = isRecord(known) ? known : Object.create(null);
  map[asText(key)] = asText(value);
  object[name] = map;
}

function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ProtobufError) return null;
    throw error;
  }
}

/** Bytes that are no protobuf message. */
class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const decoder = new TextDecoder();
/** A varint of more bytes does not fit the safe integers, or is negative. */
const safeBytes = 7;
const varintBytesMax = 10;

/**
 * Reads one protobuf message field by field, and those inside of it. Throws ProtobufError where the
 * bytes are none.
 */
class ProtobufReader {
  readonly #bytes: Uint8Array;
  /** Of the message that is being read. */
  #end: number;
  #at: number;
  #wire = 0;

  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = bytes.length;
  }

  /** The number of the next field, which has to be read or skipped; null at the end. */
  next(): number | null {
    if (this.#at >= this.#end) return null;
    const tag = this.#varint();
    this.#wire = tag % 8;
    return (tag - this.#wire) / 8;
  }

  skip(): void {
    switch (this.#wire) {
      case 0:
        this.#varint();
        break;
      case 1:
        this.#advance(8);
        break;
      case 2:
        this.#advance(this.#varint());
        break;
      case 5:
        this.#advance(4);
        break;
      default:
        throw new ProtobufError(`unknown wire type ${this.#wire}`);
    }
  }

  /** An integer, signed; beyond the safe integers the nearest number to it, as JSON.parse gives it. */
  integer(): number {
    this.#expect(0);
    return this.#varint();
  }

  text(): string {
    const from = this.#range();
    return decoder.decode(this.#bytes.subarray(from, this.#at));
  }

  /** A text that many objects share. */
  word(): string {
    const from = this.#range();
    const word = words.take(this.#bytes, from, this.#at);
    return word ?? decoder.decode(this.#bytes.subarray(from, this.#at));
  }

  /** The bytes in this field. */
  bytes(): Uint8Array {
    const from = this.#range();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Continues with the fields of the message in this field; the result is for `leave`. */
  enter(): number {
    const outer = this.#end;
    const from = this.#range();
    this.#end = this.#at;
    this.#at = from;
    return outer;
  }

  /** Comes back from a message that was read to its end. */
  leave(outer: number): void {
    this.#end = outer;
  }

  /** Where the content of this field begins; it ends where the next one does. */
  #range(): number {
    this.#expect(2);
    const length = this.#varint();
    const from = this.#at;
    this.#advance(length);
    return from;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new ProtobufError(`wire type ${this.#wire}, want ${wire}`);
  }

  #advance(count: number): void {
    this.#at += count;
    // A length may be negative too.
    if (count < 0 || this.#at > this.#end) throw new ProtobufError('a field goes beyond its end');
  }

  #varint(): number {
    const first = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    // Nearly all are small.
    if (first !== undefined && first < 0x80) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (let count = 0; count < safeBytes; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    return this.#longVarint(value);
  }

  #longVarint(low: number): number {
    let value = BigInt(low);
    for (let count = safeBytes; count < varintBytesMax; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte >= 0x80) continue;
      return Number(BigInt.asIntN(64, value));
    }
    throw new ProtobufError('an endless number');
  }

  #byte(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (byte === undefined) throw new ProtobufError('a number goes beyond its end');
    this.#at += 1;
    return byte;
  }
}

/** Longer texts are seldom seen twice. */
const wordBytesMax = 64;
/** A power of two. Few clusters have more different words; where two meet, the later one stays. */
const places = 4096;

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/**
 * Texts that come again and again, such as names of nodes and types of conditions, by their bytes:
 * one that is known is found without making a string of it, and is kept once by all who hold it.
 */
class Words {
  readonly #known: string[] = new Array(places).fill('');

  /** The text of these bytes; null where it is not kept, or not ASCII. */
  take(bytes: Uint8Array, from: number, end: number): string | null {
    if (end - from > wordBytesMax) return null;
    let hash = offsetBasis;
    for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), prime);
    const place = (hash ^ (hash >>> 15)) & (places - 1);
    const known = this.#known[place] ?? '';
    if (isText(known, bytes, from, end)) return known;
    const codes: number[] = [];
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80) return null;
      codes.push(byte);
    }
    const text = String.fromCharCode(...codes);
    this.#known[place] = text;
    return text;
  }
}

/** Knows only its readings, so sharing it changes nothing. */
const words = new Words();

function isText(text: string, bytes: Uint8Array, from: number, end: number): boolean {
  if (text.length !== end - from) return false;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== bytes[from + at]) return false;
  }
  return true;
}
