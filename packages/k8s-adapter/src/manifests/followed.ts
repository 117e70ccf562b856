// The objects of the cluster that configure the engine, as they were read last, the events that the
// engine gets for them, and the holds while one cannot be read.

import type { Event } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { policyApiVersion } from '../kinds/kinds.ts';
import { type PolicyObject, readManifest } from '../kinds/manifest.ts';
import { asInteger, asList, asRecord, asText, isRecord, type JsonRecord } from '../proto/json.ts';

/** An object as the API server has it; `object` is null where it cannot be followed. */
export interface Followed {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly object: PolicyObject | null;
  /** The reasons why it cannot be followed, fault by fault. */
  readonly faults: readonly string[];
  /** True if its definition hides fields of it: each write drops them for good. */
  readonly isCut: boolean;
  /** When evictions began to be held as it cannot be followed; null: only now. */
  readonly heldSince: Instant | null;
  /** The key of its taint, which makes pods leave; null: it is no drain, or none of NoExecute. */
  readonly drainedKey: string | null;
  /** The status on it, most likely written by the leader. */
  readonly status: unknown;
}

/** Reads one. Some servers leave the kind out of the items of a list. */
export function readFollowed(kind: FollowedKind, value: unknown): Followed {
  const manifest = { apiVersion: policyApiVersion, kind, ...asRecord(value) };
  const { metadata, spec, status } = asRecord(value);
  const { name, uid, generation } = asRecord(metadata);
  const hidden = hiddenFields(asRecord(metadata), spec);
  const read = {
    name: asText(name),
    uid: asText(uid),
    generation: asInteger(generation) ?? 0,
    isCut: hidden.length > 0,
    heldSince: heldSince(asRecord(metadata), status),
    drainedKey: kind === 'NodeDrain' ? noExecuteKey(spec) : null,
    status,
  };
  const judged = readManifest(manifest, 0);
  if (judged.kind === 'allowed' && !read.isCut) {
    return { ...read, object: judged.value, faults: [] };
  }
  const faults = judged.kind === 'allowed' ? [] : judged.faults.map(({ text }) => text);
  return { ...read, object: null, faults: [...hidden.map(hiddenText), ...faults] };
}

/** The next step for an object of a newer version than this one; '': it is not newer. */
export function advice({ isCut, faults }: Pick<Followed, 'isCut' | 'faults'>): string {
  if (isCut) {
    return 'apply the newer CustomResourceDefinitions again, or the object itself, and remove the field before you go back';
  }
  const isNewer = faults.some((text) => /^(unknown field|status[.].*Unsupported value)/.test(text));
  return isNewer ? 'remove it, or run the newer version of taintmgr-controller that knows it' : '';
}

/** The faults of an object, and what to do. */
export function told(object: Pick<Followed, 'isCut' | 'faults'>): readonly string[] {
  const next = advice(object);
  return next === '' ? object.faults : [...object.faults, next];
}

function hiddenText(path: string): string {
  return `field "${path}" is hidden by an older definition of the kind`;
}

/**
 * The fields of the spec that somebody has set, and nobody has taken away: an API server leaves
 * them out where the definition of an older version was put in the place of a newer one.
 */
function hiddenFields({ managedFields }: JsonRecord, spec: unknown): readonly string[] {
  const owned = asList(managedFields).map(asRecord).filter(isOfObject);
  const paths = owned.flatMap(({ fieldsV1 }) => {
    return absentOf(asRecord(fieldsV1)['f:spec'], spec, 'spec');
  });
  return [...new Set(paths)];
}

function absentOf(owned: unknown, value: unknown, path: string): readonly string[] {
  if (!isRecord(value)) return [];
  const fields = Object.entries(asRecord(owned)).filter(([key]) => key.startsWith('f:'));
  return fields.flatMap(([key, below]) => {
    const name = key.slice('f:'.length);
    const inner = `${path}.${name}`;
    return Object.hasOwn(value, name) ? absentOf(below, value[name], inner) : [inner];
  });
}

/** A write of the status, as by the leader, does not change the object's content. */
function isOfObject({ subresource }: JsonRecord): boolean {
  return subresource !== 'status';
}

/**
 * Since when it is not followed, as the leader wrote then. Null: a leader of a newer version followed
 * it as it is, until now. Else since its last write.
 */
function heldSince(metadata: JsonRecord, status: unknown): Instant | null {
  const { creationTimestamp, managedFields, generation } = metadata;
  const conditions = asList(asRecord(status).conditions).map(asRecord);
  const said = conditions.find(({ type }) => type === 'InForce');
  if (said?.reason === 'CannotBeFollowed') return parseTime(asText(said.lastTransitionTime));
  if (said && said.observedGeneration === generation) return null;
  const ofObject = asList(managedFields).map(asRecord).filter(isOfObject);
  const texts = [creationTimestamp, ...ofObject.map(({ time }) => time)];
  const times = texts.flatMap((text) => parseTime(asText(text)) ?? []);
  return times.length > 0 ? Math.max(...times) : null;
}

function noExecuteKey(spec: unknown): string | null {
  const { key, effect } = asRecord(asRecord(spec).taint);
  return effect === 'NoExecute' ? asText(key) : null;
}

/** No object of the cluster has such a name. */
export function holdingPauseName(kind: FollowedKind, name: string): string {
  return `${kind}/${name}`;
}

/**
 * True for a pause that stands for objects that cannot be followed, and is no object of the
 * cluster.
 */
export function isHoldingPause({ name }: Pick<EvictionPause, 'name'>): boolean {
  return name.includes('/');
}

/**
 * The pause while an object cannot be followed, which may be what keeps pods: of all evictions, or
 * for a drain of those for its taint, which are the drain's. Null: it can be followed, or keeps none.
 */
export function holdingPause(kind: FollowedKind, followed: Followed): EvictionPause | null {
  const { name, object, heldSince, drainedKey } = followed;
  if (object || kind === 'NodeTaintRule') return null;
  if (kind === 'NodeDrain' && drainedKey === null) return null;
  const taintKeys = drainedKey ? [drainedKey] : [];
  return {
    name: holdingPauseName(kind, name),
    uid: '',
    scope: { zones: [], nodes: null, taintKeys, namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: `${kind} "${name}" cannot be followed: ${told(followed).join('; ')}`,
    until: null,
    since: heldSince ?? Number.POSITIVE_INFINITY,
  };
}

/** A followed object. */
export interface FollowedObject extends Followed {
  readonly kind: FollowedKind;
  /** A file has one of its name, which counts. */
  readonly isInFile: boolean;
}

/** The followed objects; the source that reads them is the only writer. */
export class FollowedObjects implements Iterable<FollowedObject> {
  readonly #objects = new Map<string, FollowedObject>();
  /** NodeDrains that are not over. */
  readonly #openDrains = new Set<string>();
  /** Drains whose status is missing, or older than their last edit. */
  readonly #newDrains = new Map<string, FollowedObject>();

  get size(): number {
    return this.#objects.size;
  }

  get hasOpenDrains(): boolean {
    return this.#openDrains.size > 0;
  }

  get newDrains(): Iterable<FollowedObject> {
    return this.#newDrains.values();
  }

  [Symbol.iterator](): Iterator<FollowedObject> {
    return this.#objects.values();
  }

  /** Null: it is not there. */
  get(kind: FollowedKind, name: string): FollowedObject | null {
    return this.#objects.get(keyOf(kind, name)) ?? null;
  }

  put(object: FollowedObject): void {
    const key = keyOf(object.kind, object.name);
    this.#objects.set(key, object);
    if (isOpenDrain(object)) this.#openDrains.add(key);
    else this.#openDrains.delete(key);
    if (isNewDrain(object)) this.#newDrains.set(key, object);
    else this.#newDrains.delete(key);
  }

  delete(kind: FollowedKind, name: string): void {
    const key = keyOf(kind, name);
    this.#objects.delete(key);
    this.#openDrains.delete(key);
    this.#newDrains.delete(key);
  }
}

/** Tells whether something is still to happen to it. */
export function isOpenDrain({ object }: Pick<FollowedObject, 'object'>): boolean {
  return object?.kind === 'NodeDrain' && (!object.value.isOver || object.value.isDeleted);
}

function isNewDrain({ object }: FollowedObject): boolean {
  if (object?.kind !== 'NodeDrain' || object.value.isOver) return false;
  return object.value.observedGeneration !== object.value.generation;
}

function keyOf(kind: FollowedKind, name: string): string {
  return `${kind}/${name}`;
}

/** The kinds that decide about nodes and pods. */
export const decidingKinds = ['EvictionPolicy', 'NodeTaintRule', 'EvictionPause'] as const;
/** A member of `decidingKinds`. */
export type DecidingKind = (typeof decidingKinds)[number];

/** The kinds that configure the engine; the others are operations. */
export const followedKinds = [
  'EvictionPolicy',
  'NodeTaintRule',
  'EvictionPause',
  'NodeDrain',
] as const;
export type FollowedKind = (typeof followedKinds)[number];

/** Returns the event by which an engine learns of the object; null: no event is needed. */
export function policyEvent(object: PolicyObject): Event | null {
  switch (object.kind) {
    case 'EvictionPolicy':
      return { kind: 'policyUpsert', policy: object.value };
    case 'NodeTaintRule':
      return { kind: 'taintRuleUpsert', rule: object.value };
    case 'EvictionPause':
      return { kind: 'pauseUpsert', pause: object.value };
    case 'NodeDrain':
      return { kind: 'nodeDrainUpsert', drain: object.value };
    case 'TaintManager':
      return null;
  }
}

/** A followed object is gone. */
export function policyGoneEvent(kind: FollowedKind, name: string): Event {
  switch (kind) {
    case 'EvictionPolicy':
      return { kind: 'policyDelete', name };
    case 'NodeTaintRule':
      return { kind: 'taintRuleDelete', name };
    case 'EvictionPause':
      return { kind: 'pauseDelete', name };
    case 'NodeDrain':
      return { kind: 'nodeDrainDelete', name };
  }
}

/** True when namespaces have to be read: without their labels the scope of a policy is unknown. */
export function selectsNamespaces({ kind, value }: PolicyObject): boolean {
  return kind === 'EvictionPolicy' && (value.match.namespaces?.selector ?? null) !== null;
}
