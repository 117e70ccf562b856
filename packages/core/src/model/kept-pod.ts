// A pod as the engine keeps it: five own fields, and the traits that it shares with others.

import type { Instant } from '../kernel/time.ts';
import type { Disruption, Owner, Pod, PodClaim } from './pod.ts';
import type { Labels } from './selector.ts';
import type { Toleration } from './toleration.ts';

type Own = 'name' | 'uid' | 'nodeName' | 'boundAt' | 'deletionTimestamp' | 'claims';
type Shared = Omit<Pod, Own>;

/** The traits that the pods of one workload mostly have in common; those left out are there as undefined. */
type PodTraits = { readonly [K in keyof Required<Shared>]: Shared[K] };

/**
 * A pod of which there may be a million: what it shares with others of its workload is kept once.
 * Reads like any Pod, but a copy by `...` would lack the shared fields.
 */
export class KeptPod implements Pod {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly boundAt: Instant | null;
  readonly deletionTimestamp: Instant | null;
  readonly traits: PodTraits;

  constructor(own: Pick<Pod, Exclude<Own, 'claims'>>, traits: PodTraits) {
    this.name = own.name;
    this.uid = own.uid;
    this.nodeName = own.nodeName;
    this.boundAt = own.boundAt;
    this.deletionTimestamp = own.deletionTimestamp;
    this.traits = traits;
  }

  get namespace(): Pod['namespace'] {
    return this.traits.namespace;
  }

  get tolerations(): Pod['tolerations'] {
    return this.traits.tolerations;
  }

  get phase(): Pod['phase'] {
    return this.traits.phase;
  }

  get generation(): Pod['generation'] {
    return this.traits.generation;
  }

  get mirror(): Pod['mirror'] {
    return this.traits.mirror;
  }

  get owner(): Pod['owner'] {
    return this.traits.owner;
  }

  get hasEmptyDir(): Pod['hasEmptyDir'] {
    return this.traits.hasEmptyDir;
  }

  get gracePeriodSeconds(): Pod['gracePeriodSeconds'] {
    return this.traits.gracePeriodSeconds;
  }

  get optedOut(): Pod['optedOut'] {
    return this.traits.optedOut;
  }

  get unsafeToEvict(): Pod['unsafeToEvict'] {
    return this.traits.unsafeToEvict;
  }

  get doNotDisrupt(): Pod['doNotDisrupt'] {
    return this.traits.doNotDisrupt;
  }

  get ready(): Pod['ready'] {
    return this.traits.ready;
  }

  get labels(): Pod['labels'] {
    return this.traits.labels;
  }

  get priority(): Pod['priority'] {
    return this.traits.priority;
  }

  get priorityClassName(): Pod['priorityClassName'] {
    return this.traits.priorityClassName;
  }

  get disruption(): Pod['disruption'] {
    return this.traits.disruption;
  }
}

/** A pod that uses claims: others have no room for them. */
class ClaimingPod extends KeptPod {
  readonly claims: readonly PodClaim[];

  constructor(own: Pick<Pod, Own>, traits: PodTraits, claims: readonly PodClaim[]) {
    super(own, traits);
    this.claims = claims;
  }
}

/** Keeps a pod by its own and its shared fields. */
export function keepPod(own: Pick<Pod, Own>, traits: PodTraits): KeptPod {
  const { claims } = own;
  return claims ? new ClaimingPod(own, traits, claims) : new KeptPod(own, traits);
}

/** The traits that a pod may have in common with others. */
export function traitsOf(pod: Pod): PodTraits {
  return {
    namespace: pod.namespace,
    tolerations: pod.tolerations,
    phase: pod.phase,
    generation: pod.generation,
    mirror: pod.mirror,
    owner: pod.owner,
    hasEmptyDir: pod.hasEmptyDir,
    gracePeriodSeconds: pod.gracePeriodSeconds,
    optedOut: pod.optedOut,
    unsafeToEvict: pod.unsafeToEvict,
    doNotDisrupt: pod.doNotDisrupt,
    ready: pod.ready,
    labels: pod.labels,
    priority: pod.priority,
    priorityClassName: pod.priorityClassName,
    disruption: pod.disruption,
  };
}

/** The same pod with all fields as own properties, for callers that copy it or write it down. */
export function plainPod(pod: Pod): Pod {
  const { name, uid, nodeName, boundAt, deletionTimestamp, claims } = pod;
  // Thousands may be explained at once, and this copies them as a whole.
  const traits = pod instanceof KeptPod ? pod.traits : traitsOf(pod);
  const plain = { ...traits, name, uid, nodeName, boundAt, deletionTimestamp };
  return claims ? { ...plain, claims } : plain;
}

/** The same pod if it tolerated this. */
export function withTolerations(pod: Pod, tolerations: Pod['tolerations']): Pod {
  return keepPod(pod, { ...traitsOf(pod), tolerations });
}

interface Kept {
  readonly traits: PodTraits;
  readonly hash: number;
  uses: number;
}

/**
 * The traits of pods, each kept once for as long as a pod has them. Traits are found by a hash,
 * since a text of all of them would take more room than they do. Tolerations and the texts that
 * many workloads share are kept once among those, too.
 */
export class KeptTraits {
  readonly #byHash = new Map<number, Kept[]>();
  readonly #kept = new Map<PodTraits, Kept>();
  readonly #texts = new Interned<string>((text) => text);
  readonly #tolerations = new Interned<readonly Toleration[]>(tolerationsKey);

  /** The traits of a pod that had `previous` before: those it keeps are the same objects. */
  take(pod: Pod, previous: PodTraits | null): PodTraits {
    if (previous && hasTraits(pod, previous)) {
      this.#use(previous);
      return previous;
    }
    const hash = hashOf(pod);
    const found = this.#byHash.get(hash)?.find(({ traits }) => hasTraits(pod, traits));
    if (found) {
      found.uses += 1;
      return found.traits;
    }
    return this.#keep(hash, pod, previous);
  }

  release(traits: PodTraits): void {
    const kept = this.#kept.get(traits);
    if (!kept || --kept.uses > 0) return;
    this.#kept.delete(traits);
    const others = this.#byHash.get(kept.hash)?.filter((other) => other !== kept) ?? [];
    if (others.length > 0) this.#byHash.set(kept.hash, others);
    else this.#byHash.delete(kept.hash);
    for (const text of [traits.namespace, traits.phase]) this.#texts.release(text);
    this.#tolerations.release(traits.tolerations);
  }

  #use(traits: PodTraits): void {
    const kept = this.#kept.get(traits);
    if (kept) kept.uses += 1;
  }

  #keep(hash: number, pod: Pod, previous: PodTraits | null): PodTraits {
    const given = traitsOf(pod);
    const isTolerant = previous && hasSameTolerations(given.tolerations, previous.tolerations);
    const traits = {
      ...given,
      namespace: this.#texts.take(given.namespace),
      phase: this.#texts.take(given.phase),
      tolerations: this.#tolerations.take((isTolerant ? previous : given).tolerations),
      ...(previous && isSameOwner(given.owner, previous.owner) && { owner: previous.owner }),
      ...(previous && hasSameLabels(given.labels, previous.labels) && { labels: previous.labels }),
    };
    const kept = { traits, hash, uses: 1 };
    this.#kept.set(traits, kept);
    this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), kept]);
    return traits;
  }
}

/** Made once for each list: those that are kept are asked for with each change of their pods. */
const tolerationsKeys = new WeakMap<readonly Toleration[], string>();

function tolerationsKey(tolerations: readonly Toleration[]): string {
  const known = tolerationsKeys.get(tolerations);
  if (known !== undefined) return known;
  const key = JSON.stringify(
    tolerations.map((t) => [t.key, t.operator, t.value, t.effect, t.tolerationSeconds?.toString()]),
  );
  tolerationsKeys.set(tolerations, key);
  return key;
}

function hasTraits(pod: Pod, traits: PodTraits): boolean {
  return (
    pod.ready === traits.ready &&
    pod.phase === traits.phase &&
    pod.generation === traits.generation &&
    pod.namespace === traits.namespace &&
    pod.mirror === traits.mirror &&
    pod.hasEmptyDir === traits.hasEmptyDir &&
    pod.gracePeriodSeconds === traits.gracePeriodSeconds &&
    pod.optedOut === traits.optedOut &&
    pod.unsafeToEvict === traits.unsafeToEvict &&
    pod.doNotDisrupt === traits.doNotDisrupt &&
    pod.priority === traits.priority &&
    pod.priorityClassName === traits.priorityClassName &&
    isSameOwner(pod.owner, traits.owner) &&
    isSameDisruption(pod.disruption, traits.disruption) &&
    hasSameTolerations(pod.tolerations, traits.tolerations) &&
    hasSameLabels(pod.labels, traits.labels)
  );
}

function isSameOwner(one: Owner | null, other: Owner | null): boolean {
  if (!one || !other || one === other) return one === other;
  return one.name === other.name && one.kind === other.kind && one.apiVersion === other.apiVersion;
}

function isSameDisruption(one: Disruption | undefined, other: Disruption | undefined): boolean {
  return one?.reason === other?.reason && one?.manager === other?.manager;
}

function hasSameTolerations(one: readonly Toleration[], others: readonly Toleration[]): boolean {
  if (one === others) return true;
  if (one.length !== others.length) return false;
  return one.every((toleration, at) => {
    const other = others[at];
    return (
      other !== undefined &&
      toleration.key === other.key &&
      toleration.operator === other.operator &&
      toleration.value === other.value &&
      toleration.effect === other.effect &&
      toleration.tolerationSeconds === other.tolerationSeconds
    );
  });
}

function hasSameLabels(one: Labels | undefined, other: Labels | undefined): boolean {
  if (!one || !other || one === other) return one === other;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && one[key] === other[key]);
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** By what tells workloads apart, and states of a pod. */
function hashOf({ namespace, owner, phase, ready, labels, generation }: Pod): number {
  let hash = hashText(offsetBasis, namespace);
  hash = hashText(hash, owner?.name ?? '');
  hash = hashText(hash, phase);
  hash = hashText(hash, ready ?? '');
  for (const key in labels) hash = hashText(hash, labels[key] ?? '');
  return Math.imul(hash ^ generation, prime);
}

function hashText(from: number, text: string): number {
  let hash = Math.imul(from ^ text.length, prime);
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return hash;
}

/** Equal values kept once, for as long as they are used. */
export class Interned<T> {
  readonly #keyOf: (value: T) => string;
  readonly #kept = new Map<string, { readonly value: T; uses: number }>();

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  take(value: T): T {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key);
    if (entry) {
      entry.uses += 1;
      return entry.value;
    }
    this.#kept.set(key, { value, uses: 1 });
    return value;
  }

  release(value: T): void {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key);
    if (entry && --entry.uses === 0) this.#kept.delete(key);
  }
}
