// Pauses as the leader remembers them in its TaintManager: a later start after their end gives back
// the time that they took.
import type { EvictionPause, EvictionPauseScope } from '@taintmgr/core/policy';
import { formatTimeMillis, type Instant, parseTime } from '@taintmgr/core/time';
import { policyApiVersion } from '../kinds/kinds.ts';
import { readManifest } from '../kinds/manifest.ts';
import type { TaintManagerStatus } from '../kinds/taint-manager.ts';
import { asList, asRecord, asText, parseJson } from '../proto/json.ts';

/** A pause record, as it is written. */
export type PauseRecord = NonNullable<TaintManagerStatus['pauseRecords']>[number];

const recordsMax = 64;
/** Of one scope, and of all. */
const scopeLengthMax = 4096;
const allLengthMax = 65_536;

const everything: EvictionPauseScope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };

/**
 * The pauses that hold deadlines, also those that are over: nodes may still count with them. Where
 * there is no room the record says that everything was held, so that no pod gets less time than is
 * due.
 */
export function pauseRecords(pauses: readonly EvictionPause[]): readonly PauseRecord[] {
  const holding = pauses.filter(({ deadlines }) => deadlines);
  const isMany = holding.length > recordsMax;
  const alone = isMany ? holding.slice(0, recordsMax - 1) : holding;
  let room = allLengthMax;
  const records = alone.map(({ name, uid, since, until, scope }): PauseRecord => {
    const text = scopeText(scope);
    const fits = text.length <= Math.min(room, scopeLengthMax);
    if (fits) room -= text.length;
    return {
      name,
      ...(uid !== '' && { uid }),
      ...times(since, until),
      ...(fits && { scope: text }),
    };
  });
  return isMany ? [...records, together(holding.slice(alone.length))] : records;
}

function together(pauses: readonly EvictionPause[]): PauseRecord {
  const ends = pauses.map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  const since = Math.min(...pauses.map((pause) => pause.since));
  return { name: `${pauses.length} more`, ...times(since, Math.max(...ends)) };
}

function times(since: Instant, until: Instant | null): Pick<PauseRecord, 'since' | 'until'> {
  return {
    ...(Number.isFinite(since) && { since: formatTimeMillis(since) }),
    ...(until !== null && Number.isFinite(until) && { until: formatTimeMillis(until) }),
  };
}

/**
 * The pauses that an earlier leader wrote down and the engine has not heard of yet, beside what
 * holds now. A pause that was recreated since has the same name: the earlier one is told apart by
 * its mark.
 */
export function withEarlier(
  earlier: readonly PauseRecord[],
  now: readonly PauseRecord[],
): readonly PauseRecord[] {
  const byName = new Map(now.map((record) => [record.name, record]));
  const differing = earlier.flatMap((record) => {
    const same = byName.get(record.name);
    if (!same) return [record];
    return isSame(record, same) ? [] : [{ ...record, name: goneName(record.name) }];
  });
  return [...differing, ...now];
}

function isSame(a: PauseRecord, b: PauseRecord): boolean {
  return a.uid === b.uid && a.scope === b.scope && a.since === b.since;
}

/** A name that no object of the cluster has. */
function goneName(name: string): string {
  return name.startsWith('gone/') ? name : `gone/${name}`;
}

/** The pauses that a TaintManager of the API server remembers; anything may be in it. */
export function recordsIn(object: unknown): readonly PauseRecord[] {
  const { pauseRecords: list } = asRecord(asRecord(object).status);
  return asList(list)
    .slice(0, recordsMax)
    .map(asRecord)
    .map(({ name, uid, since, until, scope }) => ({
      name: asText(name),
      ...(typeof uid === 'string' && { uid }),
      ...(typeof since === 'string' && { since }),
      ...(typeof until === 'string' && { until }),
      ...(typeof scope === 'string' && { scope }),
    }));
}

/**
 * The pauses that held and are gone, or hold something else; `named`: the present ones, by name.
 */
export function gonePauses(
  records: readonly PauseRecord[],
  named: (name: string) => EvictionPause | null,
): readonly EvictionPause[] {
  return records.filter((record) => !isStillThere(record, named(record.name))).map(pauseOf);
}

/** Tells whether a pause that is there now holds what this one held. */
function isStillThere(record: PauseRecord, pause: EvictionPause | null): boolean {
  if (!pause?.deadlines || pause.uid !== (record.uid ?? '')) return false;
  return record.scope === undefined || record.scope === scopeText(pause.scope);
}

/** The pause that held, by a name that no object of the cluster has. */
function pauseOf({ name, uid = '', since, until, scope }: PauseRecord): EvictionPause {
  return {
    name: goneName(name),
    uid,
    scope: scope === undefined ? everything : scopeOf(scope),
    readiness: false,
    deadlines: true,
    reason: '',
    // An unreadable time counts as the one that gives most back.
    until: until === undefined ? null : parseTime(until),
    since: (since === undefined ? null : parseTime(since)) ?? 0,
  };
}

function scopeText({ zones, nodes, taintKeys, namespaces }: EvictionPauseScope): string {
  return JSON.stringify({
    ...(zones.length > 0 && { zones }),
    ...(nodes && { nodeSelector: nodes }),
    ...(taintKeys.length > 0 && { taintKeys }),
    ...(namespaces.length > 0 && { namespaces }),
  });
}

function scopeOf(text: string): EvictionPauseScope {
  const judged = readManifest(
    {
      apiVersion: policyApiVersion,
      kind: 'EvictionPause',
      metadata: { name: 'gone' },
      spec: { scope: parseJson(text) ?? null },
    },
    0,
  );
  const isRead = judged.kind === 'allowed' && judged.value.kind === 'EvictionPause';
  return isRead ? judged.value.value.scope : everything;
}
