// Replays recorded histories of the real device-taint-eviction-controller against core's machine for it, by way of
// the adapter's reading, with an API as simple as the recorder's own: objects change at once, and pods only terminate.
import {
  type UpstreamDeviceCommand,
  type UpstreamDeviceEvent,
  UpstreamDeviceEviction,
} from '@taintmgr/core/devices';
import { podFromJson } from '../../src/proto/convert.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../../src/proto/convert-devices.ts';

type Kind = 'Pod' | 'ResourceClaim' | 'ResourceSlice' | 'DeviceTaintRule';

interface ApiTaint {
  effect?: string;
  timeAdded?: string;
}

export interface ApiObject {
  readonly kind: Kind;
  metadata: { name: string; namespace?: string; uid?: string; [more: string]: unknown };
  /** `devices` of a slice is a list, of a claim it is none. */
  spec?: { taint?: ApiTaint; devices?: { taints?: ApiTaint[] }[] | object; nodeName?: string };
  status?: object;
}

export type Step = { readonly at: number } & (
  | { readonly op: 'create'; readonly object: ApiObject }
  | { readonly op: 'delete' | 'dealloc'; readonly kind: Kind; readonly name: string }
  | { readonly op: 'patch'; readonly kind: Kind; readonly name: string; readonly patch: object }
  | { readonly op: 'bind'; readonly name: string; readonly node: string }
);

interface PodEnd {
  readonly evicted: boolean;
  readonly at?: number;
  readonly tolerance?: number;
}

export interface RuleEnd {
  /** It is gone; the condition is the last that it had. */
  readonly deleted?: boolean;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}

export interface DeviceTaintCase {
  readonly horizon: number;
  readonly objects: readonly ApiObject[];
  readonly steps: readonly Step[];
  readonly expect: {
    readonly pods: Readonly<Record<string, PodEnd>>;
    readonly rules?: Readonly<Record<string, RuleEnd>>;
  };
}

/** When the first rule of a case arrives, after tainted slices, and each of the others after it, in milliseconds. */
const arrivals = [
  [0, 0],
  [0, 50],
  [50, 0],
  [50, 50],
] as const;

export interface Arrival {
  readonly rule: ApiObject;
  /** In seconds. */
  readonly at: number;
}

/** A history that is played again, in seconds after its beginning. */
export interface Played {
  /** By the names of pods. */
  readonly evictedAt: ReadonlyMap<string, number>;
  advanceTo(seconds: number): void;
  apply(step: Step): void;
  /** The last condition of a rule. */
  conditionOf(name: string): RuleEnd | null;
}

/** Begins to play. */
type Play = (objects: readonly ApiObject[], rules: readonly Arrival[]) => Played;

/**
 * What differs from the recording; null when nothing does. The rules of a case were made at once, and which of them a
 * pod that goes at once is counted for depends on which reached the cache first: one order has to fit.
 */
export function checkDeviceTaints(
  recorded: DeviceTaintCase,
  play: Play = (objects, rules) => new Replay(objects, rules),
): string | null {
  const rules = recorded.objects.filter(({ kind }) => kind === 'DeviceTaintRule');
  let first: string | null = null;
  for (const order of ordersOf(rules)) {
    for (const [firstMs, gapMs] of arrivals) {
      const arrivesAt = order.map((rule, index) => ({
        rule,
        at: (firstMs + index * gapMs) / 1000,
      }));
      const difference = differenceIn(recorded, play(recorded.objects, arrivesAt));
      if (difference === null) return null;
      first ??= difference;
    }
  }
  return first;
}

function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item) =>
    ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

function differenceIn(recorded: DeviceTaintCase, replay: Played): string | null {
  for (const step of recorded.steps) {
    replay.advanceTo(step.at);
    replay.apply(step);
  }
  replay.advanceTo(recorded.horizon);
  const evictedAt = new Map(replay.evictedAt);
  // Rules were looked at when all cases were over.
  replay.advanceTo(recorded.horizon + statusPeriod);
  const { pods, rules: ends = {} } = recorded.expect;
  return (
    Object.entries(pods)
      .map(([name, end]) => podDifference(name, end, evictedAt.get(name)))
      .find((text) => text !== null) ??
    Object.entries(ends)
      .map(([name, end]) => ruleDifference(name, end, replay.conditionOf(name)))
      .find((text) => text !== null) ??
    null
  );
}

function podDifference(name: string, end: PodEnd, at: number | undefined): string | null {
  const { evicted, at: wanted = 0, tolerance = 1 } = end;
  if (evicted !== (at !== undefined))
    return `${name}: evicted ${at ?? 'never'}, recorded ${wanted}`;
  const isNear = at === undefined || Math.abs(at - wanted) <= tolerance;
  return isNear ? null : `${name}: at ${at}, recorded ${wanted}`;
}

function ruleDifference(name: string, end: RuleEnd, condition: RuleEnd | null): string | null {
  const text = (said: RuleEnd | null): string => {
    if (said === null) return 'no status';
    return `${said.deleted ? 'deleted, ' : ''}${said.status} ${said.reason} ${said.message ?? ''}`;
  };
  return text(end) === text(condition)
    ? null
    : `${name}: ${text(condition)}, recorded ${text(end)}`;
}

/** Seconds after which a rule's status is counted anew. */
const statusPeriod = 12;
/** How long the API server takes to answer: other requests get in between. */
const answerMs = { applyRuleStatus: 5, deleteForDevices: 20 };
/** Any whole second. */
const start = Date.parse('2026-11-29T00:00:00Z');
const namespace = 'case';

type Sent = Exclude<UpstreamDeviceCommand, { kind: 'recordDeviceEvent' }>;

class Replay implements Played {
  readonly evictedAt = new Map<string, number>();
  readonly #objects = new Map<string, ApiObject>();
  readonly #machine = new UpstreamDeviceEviction({ qps: 500, burst: 1000 });
  readonly #conditions = new Map<string, RuleEnd>();
  #underWay: { readonly at: number; readonly command: Sent }[] = [];
  #now = start;

  /** What is not tainted has been there before the rest comes, the rules one after the other. */
  constructor(objects: readonly ApiObject[], rules: readonly Arrival[]) {
    this.#tell({ kind: 'synced' });
    const isTainted = (object: ApiObject): boolean =>
      object.kind === 'ResourceSlice' && JSON.stringify(object).includes('"effect"');
    const others = objects.filter(({ kind }) => kind !== 'DeviceTaintRule');
    const early = others.filter((one) => !isTainted(one));
    for (const object of [...early, ...others.filter(isTainted)])
      this.#put(structuredClone(object));
    for (const { rule, at } of rules) {
      this.advanceTo(at);
      this.#put(structuredClone(rule));
    }
  }

  advanceTo(seconds: number): void {
    const until = start + seconds * 1000;
    for (;;) {
      const answered = this.#underWay[0];
      const wake = Math.min(answered?.at ?? until + 1, this.#machine.nextWake() ?? until + 1);
      if (wake > until) break;
      this.#now = Math.max(this.#now, wake);
      if (answered?.at === wake) this.#answer(answered.command);
      else this.#tell({ kind: 'tick' });
    }
    this.#now = until;
  }

  apply(step: Step): void {
    if (step.op === 'create') {
      // What is there already is refused.
      if (!this.#objects.has(keyOf(step.object.kind, step.object.metadata.name))) {
        this.#put(structuredClone(step.object));
      }
      return;
    }
    const kind = step.op === 'bind' ? 'Pod' : step.kind;
    const found = this.#objects.get(keyOf(kind, step.name));
    if (!found) return;
    if (step.op === 'delete') this.#delete(found);
    if (step.op === 'patch') this.#update(found, step.patch);
    if (step.op === 'bind') this.#update(found, { spec: { nodeName: step.node } });
    if (step.op === 'dealloc') {
      this.#update(found, { status: { allocation: null, reservedFor: null } });
    }
  }

  conditionOf(name: string): RuleEnd | null {
    const condition = this.#conditions.get(name);
    const isThere = this.#objects.has(keyOf('DeviceTaintRule', name));
    return condition ? { ...condition, ...(!isThere && { deleted: true }) } : null;
  }

  #update(found: ApiObject, patch: object): void {
    const next = merged(found, patch) as ApiObject;
    const [before, after] = [found.spec?.taint, next.spec?.taint];
    // The API server dates a taint anew whose effect has changed.
    if (after && before?.effect !== after.effect && before?.timeAdded === after.timeAdded) {
      delete after.timeAdded;
    }
    this.#put(next);
  }

  #put(given: ApiObject): void {
    const { kind, metadata, spec } = given;
    const known = this.#objects.get(keyOf(kind, metadata.name));
    const isNew = !known;
    const object = timed(given) as ApiObject;
    metadata.uid ??= kind === 'Pod' ? `uid:${metadata.name}` : `${metadata.name}-${this.#now}`;
    object.metadata = { ...metadata, ...(isNamespaced(kind) && { namespace }) };
    const { taint: own, devices } = object.spec ?? {};
    const published = Array.isArray(devices) ? devices : [];
    const taints = [own, ...published.flatMap((device) => device.taints ?? [])];
    const whole = new Date(Math.floor(this.#now / 1000) * 1000).toISOString();
    for (const taint of taints) if (taint) taint.timeAdded ??= whole;
    const { generation = 0 } = (known?.metadata ?? {}) as { generation?: number };
    const isChanged = JSON.stringify(known?.spec) !== JSON.stringify(object.spec ?? spec);
    object.metadata.generation = isNew || isChanged ? generation + 1 : generation;
    this.#objects.set(keyOf(kind, metadata.name), object);
    this.#tell(upsertOf(object));
  }

  /** There is no kubelet: a pod stays, and terminates. */
  #delete(found: ApiObject): void {
    const { kind, metadata } = found;
    if (kind === 'Pod') {
      const deletionTimestamp = new Date(this.#now).toISOString();
      if (!('deletionTimestamp' in metadata))
        this.#update(found, { metadata: { deletionTimestamp } });
      return;
    }
    this.#objects.delete(keyOf(kind, metadata.name));
    if (kind === 'ResourceSlice') this.#tell({ kind: 'resourceSliceDelete', name: metadata.name });
    if (kind === 'DeviceTaintRule') {
      this.#tell({ kind: 'deviceTaintRuleDelete', name: metadata.name });
    }
    if (kind === 'ResourceClaim') {
      this.#tell({ kind: 'resourceClaimDelete', namespace, name: metadata.name });
    }
  }

  #tell(event: UpstreamDeviceEvent): void {
    for (const command of this.#machine.handle(this.#now, event)) {
      if (command.kind === 'recordDeviceEvent') continue;
      this.#underWay.push({ at: this.#now + answerMs[command.kind], command });
    }
    this.#underWay.sort((one, other) => one.at - other.at);
  }

  #answer(command: Sent): void {
    this.#underWay = this.#underWay.filter((one) => one.command !== command);
    if (command.kind === 'deleteForDevices') {
      const pod = this.#objects.get(keyOf('Pod', command.pod.name));
      if (pod && !('deletionTimestamp' in pod.metadata)) {
        this.evictedAt.set(command.pod.name, (this.#now - start) / 1000);
        this.#delete(pod);
      }
    } else {
      const rule = this.#objects.get(keyOf('DeviceTaintRule', command.rule.name));
      const { transitionAt, ...said } = command.condition;
      const lastTransitionTime = new Date(transitionAt ?? this.#now).toISOString();
      const condition = { type: 'EvictionInProgress', ...said, lastTransitionTime };
      if (rule) this.#update(rule, { status: { conditions: [condition] } });
      if (rule) this.#conditions.set(command.rule.name, said);
    }
    this.#tell({ kind: 'result', id: command.id, outcome: { kind: 'done' } });
  }
}

function keyOf(kind: Kind, name: string): string {
  return `${kind}/${name}`;
}

function isNamespaced(kind: Kind): boolean {
  return kind === 'Pod' || kind === 'ResourceClaim';
}

function upsertOf(object: ApiObject): UpstreamDeviceEvent {
  switch (object.kind) {
    case 'Pod':
      return { kind: 'podUpsert', pod: podFromJson(object) };
    case 'ResourceClaim':
      return { kind: 'resourceClaimUpsert', claim: resourceClaimFromJson(object) };
    case 'ResourceSlice':
      return { kind: 'resourceSliceUpsert', slice: resourceSliceFromJson(object) };
    case 'DeviceTaintRule':
      return { kind: 'deviceTaintRuleUpsert', rule: deviceTaintRuleFromJson(object) };
  }
}

/** JSON merge patch (RFC 7396). */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** `T-6s` as the API writes a time, and seconds beyond 2^53 as JSON.parse gives them. */
function timed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, text) => {
    if (key === 'tolerationSeconds') return Number(text);
    const [, seconds] = /^T([+-][\d.]+)s$/.exec(typeof text === 'string' ? text : '') ?? [];
    return seconds === undefined ? text : new Date(start + Number(seconds) * 1000).toISOString();
  });
}
