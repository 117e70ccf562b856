// Writes API objects as protobuf.
import {
  int64Max,
  isList,
  isObject,
  KeptTexts,
  keptText,
  lastWritten,
} from '@taintmgr/sim-cluster/server';
import { bodyFields } from './body-kinds.ts';
import {
  type Fields,
  type FieldType,
  isPointer,
  isRepeated,
  listMeta,
  statusFields,
} from './fields.ts';
import { objects } from './kinds.ts';
import { podSpec, podStatus } from './pod-fields.ts';
import { ProtobufWriter } from './writer.ts';

/** An API object, whatever is in it. */
type Given = Readonly<Record<string, unknown>>;

/** The media type of Kubernetes' protobuf; in a watch it has a parameter. */
export const protobufType: string = 'application/vnd.kubernetes.protobuf';

/** One writer for all: encodings do not nest. */
const kept = new ProtobufWriter();
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
const lengthBytes = 4;
const noLength = new Uint8Array(lengthBytes);

/** True if objects of this kind, and their lists, can be written in protobuf. */
export function hasProtobuf(apiVersion: string, kind: string): boolean {
  return fieldsOf(apiVersion, kind) !== undefined;
}

/** True for the few kinds that controllers read all the time. */
export function isOftenRead(kind: string): boolean {
  return Object.hasOwn(objects, kind);
}

const lists = new Map<string, Fields>();

/** The fields of a kind, of its list or of Status. */
function fieldsOf(apiVersion: string, kind: string): Fields | undefined {
  if (kind === 'Status') return statusFields;
  if (!kind.endsWith('List')) return bodyFields(apiVersion, kind);
  const item = bodyFields(apiVersion, kind.slice(0, -'List'.length));
  const key = `${apiVersion}/${kind}`;
  const known = lists.get(key);
  if (!item || known) return known;
  const fields: Fields = { metadata: [1, listMeta], items: [2, [item]] };
  lists.set(key, fields);
  return fields;
}

/**
 * An object, a list or a Status with the envelope around it, as in the body of an answer. Fields that
 * the tables do not know are left out. Throws an Error for a kind that the tables do not have.
 */
export const encodeObject: (object: Given) => Uint8Array = lastWritten((object: Given) =>
  kept.written(() => writeObject(kept, object)),
);

/**
 * An event of a watch in protobuf, after its length in four bytes. `type` is ADDED, MODIFIED, DELETED,
 * BOOKMARK or ERROR. Throws as `encodeObject`.
 */
export function encodeFrame(type: string, object: Given): Uint8Array {
  const encoded = encodeObject(object);
  const bytes = kept.written(() => {
    kept.raw(noLength);
    kept.text(1, type);
    const event = kept.open(2);
    const raw = kept.open(1);
    kept.raw(encoded);
    kept.close(raw);
    kept.close(event);
  });
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, bytes.length - lengthBytes);
  return bytes;
}

/** runtime.Unknown, after its magic. */
function writeObject(writer: ProtobufWriter, object: Given): void {
  const kind = String(object.kind);
  const fields = fieldsOf(String(object.apiVersion ?? 'v1'), kind);
  if (!fields) throw new Error(`no protobuf for kind ${kind}`);
  writer.raw(magic);
  writer.message(1, () => {
    writer.text(1, String(object.apiVersion ?? 'v1'));
    writer.text(2, kind);
  });
  writer.message(2, () => writeFields(writer, object, fields));
  writer.text(3, '');
  writer.text(4, '');
}

/** A field and its name in JSON. */
interface Entry {
  readonly name: string;
  readonly field: number;
  readonly type: FieldType;
  /** True if an absent field is not written. */
  readonly isOptional: boolean;
  /** The texts of large fields, which most writes leave unchanged; null: they are not kept. */
  readonly kept: KeptTexts | null;
}

const entries = new Map<Fields, readonly Entry[]>();
const large = new Set<FieldType>([podSpec, podStatus]);

function entriesOf(fields: Fields): readonly Entry[] {
  const known = entries.get(fields);
  if (known) return known;
  const made = Object.entries(fields).map(([name, [field, type]]) => ({
    name,
    field,
    type,
    isOptional: isOptional(type),
    kept: large.has(type) ? new KeptTexts() : null,
  }));
  entries.set(fields, made);
  return made;
}

/** Pointers, and what Go has as slices and maps: texts, integers and messages of any number, and bytes. */
function isOptional(type: FieldType): boolean {
  if (typeof type === 'string') return /(\*|s|Map)$/.test(type);
  return isRepeated(type) || isPointer(type);
}

function writeFields(writer: ProtobufWriter, object: Given, fields: Fields): void {
  for (const { name, field, type, isOptional, kept } of entriesOf(fields)) {
    const value = name === '' ? object : (object[name] ?? null);
    // Most fields of most objects are not given.
    if (value === null && isOptional) continue;
    if (typeof type === 'string') writeScalar(writer, field, type, value);
    else if (kept) writeKept(writer, kept, value, () => writeMessages(writer, field, type, value));
    else writeMessages(writer, field, type, value);
  }
}

/** A field as it was written before, if the value is immutable. */
function writeKept(
  writer: ProtobufWriter,
  kept: KeptTexts,
  value: unknown,
  write: () => void,
): void {
  if (!isObject(value) || !Object.isFrozen(value)) {
    write();
    return;
  }
  const known = kept.of(value);
  if (known === undefined) kept.keep(value, writer.copied(write));
  else writer.copy(known);
}

function writeMessages(
  writer: ProtobufWriter,
  field: number,
  type: Exclude<FieldType, string>,
  value: unknown,
): void {
  if (isRepeated(type)) {
    if (isList(value)) for (const item of value) writeMessage(writer, field, type[0], item);
  } else writeMessage(writer, field, isPointer(type) ? type.pointer : type, value);
}

function writeMessage(writer: ProtobufWriter, field: number, fields: Fields, value: unknown): void {
  const start = writer.open(field);
  writeFields(writer, isObject(value) ? value : {}, fields);
  writer.close(start);
}

function writeScalar(
  writer: ProtobufWriter,
  field: number,
  type: Extract<FieldType, string>,
  value: unknown,
): void {
  switch (type) {
    case 'string':
    case 'string*':
      writer.text(field, typeof value === 'string' ? value : '');
      break;
    case 'strings':
      if (isList(value)) for (const text of value) writer.text(field, String(text));
      break;
    case 'integer':
    case 'integer*':
    case 'integer!':
      writer.integer(field, typeof value === 'bigint' ? value : int64(Number(value)));
      break;
    case 'integers':
      if (isList(value)) for (const number of value) writer.integer(field, int64(Number(number)));
      break;
    case 'boolean':
    case 'boolean*':
    case 'boolean!':
      writer.integer(field, value === true ? 1 : 0);
      break;
    case 'time':
    case 'time*':
    case 'microTime*':
      writer.message(field, () => writeTime(writer, value));
      break;
    case 'bytes':
      writer.message(field, () => writer.raw(Buffer.from(String(value ?? ''), 'base64')));
      break;
    case 'quantity*':
      writer.message(field, () => writer.text(1, String(value)));
      break;
    case 'intOrString':
    case 'intOrString*':
      writer.message(field, () => writeIntOrString(writer, value));
      break;
    case 'json*':
      writer.message(field, () => writer.text(1, keptText(value)));
      break;
    case 'stringMap':
    case 'bytesMap':
    case 'quantityMap':
    case 'timeMap':
      writeMap(writer, field, type, value);
  }
}

/** A time as protobuf has it. */
interface Time {
  readonly seconds: number;
  readonly nanos: number;
}

/** Times that were written lately: a pod has a dozen, which are the same in each event about it. */
const times = new Map<string, Time>();
const timesMax = 1024;

/** The zero time has no fields. */
function writeTime(writer: ProtobufWriter, value: unknown): void {
  if (typeof value !== 'string') return;
  const { seconds, nanos } = times.get(value) ?? readTime(value);
  writer.integer(1, seconds);
  writer.integer(2, nanos);
}

/** RFC 3339, whose fraction may be finer than a Date. */
function readTime(text: string): Time {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const nanos = Number(fraction.padEnd(9, '0').slice(0, 9));
  const time = { seconds: Math.floor(Date.parse(text) / 1000), nanos };
  if (times.size >= timesMax) times.clear();
  times.set(text, time);
  return time;
}

function writeIntOrString(writer: ProtobufWriter, value: unknown): void {
  const isText = typeof value === 'string';
  writer.integer(1, isText ? 1 : 0);
  writer.integer(2, isText ? 0 : Number(value));
  writer.text(3, isText ? value : '');
}

function writeMap(
  writer: ProtobufWriter,
  field: number,
  type: 'stringMap' | 'bytesMap' | 'quantityMap' | 'timeMap',
  value: unknown,
): void {
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    writer.message(field, () => {
      writer.text(1, key);
      if (type === 'stringMap') writer.text(2, String(member));
      else if (type === 'timeMap') writer.message(2, () => writeTime(writer, member));
      else if (type === 'bytesMap') {
        writer.message(2, () => writer.raw(Buffer.from(String(member), 'base64')));
      } else writer.message(2, () => writer.text(1, String(member)));
    });
  }
}

/** The largest int64 has been rounded up, to one that is too large. */
function int64(value: number): number | bigint {
  return value >= Number(int64Max) ? int64Max : Math.trunc(value);
}
