// Since when the taints of a node count, as its annotation says, and when that is believed.
import type { PastPause } from '@taintmgr/core';
import { earliest, formatTimeMillis, type Instant, parseTime } from '@taintmgr/core/time';
import { asInteger, asList, asRecord, asText, isRecord, parseJson } from './json.ts';

/** On a node: since when its taints count, as JSON of `key=value:effect` to RFC 3339. */
export const taintStartsAnnotation = 'taintmgr.dev/taint-starts';

/** Beside the starts: when the taints they are of were written. No taint is called so. */
const writtenKey = 'taintsWrittenAt';
/** Beside them: the pauses that are gone. */
const pausesKey = 'pauses';
const pausesMax = 20;

/**
 * The manager of the annotation. The manager owns nothing else: a write of it must not renew the
 * time of an entry that owns the taints as well.
 */
export const taintStartsManager = 'taintmgr-taint-starts';

export type TaintStarts = Readonly<Record<string, Instant>>;

/**
 * The time of the last write of spec.taints, by the managed fields of a node: a writer that changes
 * the list owns it from then on, and the time of an owner never lies before. Null where it has no
 * owner, because the server keeps no managed fields or they were reset.
 */
export function taintsWrittenAt(managedFields: unknown): Instant | null {
  const times = asList(managedFields).map(asRecord).filter(ownsTaints);
  return earliest(times.map(({ time }) => timeFromJson(time)));
}

/** The program that wrote them then; null where it is unknown. */
export function taintsWrittenBy(managedFields: unknown): string | null {
  const at = taintsWrittenAt(managedFields);
  const owners = asList(managedFields).map(asRecord).filter(ownsTaints);
  return asText(owners.find(({ time }) => timeFromJson(time) === at)?.manager) || null;
}

/** JSON has the fields as an object, protobuf as the bytes of JSON. */
function ownsTaints({ fieldsV1, subresource }: Readonly<Record<string, unknown>>): boolean {
  if (asText(subresource) !== '') return false;
  const { raw } = asRecord(fieldsV1);
  if (!(raw instanceof Uint8Array)) return isOwned(fieldsV1);
  const text = new TextDecoder().decode(raw);
  return text.includes('"f:taints"') && isOwned(parseJson(text));
}

function isOwned(fields: unknown): boolean {
  return isRecord(asRecord(asRecord(fields)['f:spec'])['f:taints']);
}

/**
 * The starts that may be believed: those written down when the taints had been written as they are
 * now. A taint may have gone and come back since any other writing. Null without the annotation.
 */
export function believedStarts(annotation: unknown, writtenAt: Instant | null): TaintStarts | null {
  if (typeof annotation !== 'string') return null;
  const { [writtenKey]: ofWriting, [pausesKey]: past, ...starts } = asRecord(parseJson(annotation));
  // The annotation names only gone pauses.
  if (past !== undefined && ofWriting === undefined && Object.keys(starts).length === 0)
    return null;
  if (writtenAt === null || timeFromJson(ofWriting) !== writtenAt) return {};
  return Object.fromEntries(
    Object.entries(starts).flatMap(([taint, time]) => {
      const instant = timeFromJson(time);
      return instant === null ? [] : [[taint, instant]];
    }),
  );
}

/** The pauses that are gone, as the same annotation has them, whenever the taints were written. */
export function pastPauses(annotation: unknown): readonly PastPause[] {
  if (typeof annotation !== 'string') return [];
  return asList(asRecord(parseJson(annotation))[pausesKey])
    .slice(0, pausesMax)
    .map(asRecord)
    .flatMap((pause) => {
      const [from, to] = [timeFromJson(pause.from), timeFromJson(pause.to)];
      if (from === null || to === null || from >= to) return [];
      const [taintKeys, namespaces] = [textsOf(pause.taintKeys), textsOf(pause.namespaces)];
      return [{ from, to, taintKeys, namespaces, pause: asText(pause.pause) }];
    });
}

function textsOf(value: unknown): readonly string[] {
  return asList(value).filter((one) => typeof one === 'string');
}

/** The annotation that says so; null: none. */
export function formatStarts(
  starts: TaintStarts | null,
  writtenAt: Instant | null,
  pauses: readonly PastPause[] = [],
): string | null {
  if (starts === null && pauses.length === 0) return null;
  const entries = Object.entries(starts ?? {}).map(([taint, at]) => [taint, formatTimeMillis(at)]);
  const written =
    writtenAt === null || starts === null ? {} : { [writtenKey]: formatTimeMillis(writtenAt) };
  const past = pauses.map(({ from, to, taintKeys, namespaces, pause }) => ({
    from: formatTimeMillis(from),
    to: formatTimeMillis(to),
    ...(taintKeys.length > 0 && { taintKeys }),
    ...(namespaces.length > 0 && { namespaces }),
    ...(pause !== '' && { pause }),
  }));
  const gone = past.length > 0 ? { [pausesKey]: past } : {};
  return JSON.stringify({ ...written, ...Object.fromEntries(entries), ...gone });
}

/**
 * Text, as JSON has it, seconds and nanoseconds, as protobuf has, or a Date, as objects of
 * @kubernetes/client-node have; null for anything else.
 */
export function timeFromJson(value: unknown): Instant | null {
  if (typeof value === 'string') return parseTime(value);
  const { seconds, nanos, getTime } = asRecord(value);
  if (typeof getTime === 'function') return asInteger(getTime.call(value));
  const whole = asInteger(seconds);
  return whole === null ? null : whole * 1000 + Math.floor((asInteger(nanos) ?? 0) / 1_000_000);
}
