// The course that was observed, recorded as that of a simulation is: by the same recorder, from objects that change.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Recording } from '@taintmgr/page';
import { type Change, type Cluster, type KubeObject, VirtualClock } from '@taintmgr/sim-cluster';
import { RunRecorder } from '../result/recorder.ts';
import type { ClusterSource } from '../source/source.ts';
import { PodTimes } from '../times/pod-times.ts';
import type { Happened } from './happened.ts';
import { keyOf } from './inferred.ts';
import { type Observed, resources } from './observed.ts';

/** Records the observations, up to their end. */
export function recordReal(
  source: ClusterSource,
  before: Cluster['api'],
  observed: Observed,
  { machines }: Pick<Happened, 'machines'>,
): Recording {
  const clock = new VirtualClock(source.startsAt);
  const cluster = new ObservedCluster(before, clock);
  const recorder = new RunRecorder({
    api: cluster,
    controller: { hasPauses: false, explain: () => null, zones: () => [] },
    semantics: 'precise',
    times: new PodTimes(new Map(), source.observed),
  });
  const after = (at: Instant): Millis => Math.max(0, at - source.startsAt);
  for (const { at, node, runs } of machines) {
    clock.after(at, () => recorder.noteMachine(node, runs));
  }
  for (const change of observed.changes) {
    clock.after(after(change.at), () => cluster.take(change));
  }
  clock.advanceTo(Math.max(observed.until, source.startsAt));
  return recorder.recording();
}

/** Objects that change as observed; no controller acts on them. */
class ObservedCluster {
  readonly clock: VirtualClock;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(before: Cluster['api'], clock: VirtualClock) {
    this.clock = clock;
    for (const resource of Object.values(resources)) {
      const objects = before.list(resource).map((object) => [keyOf(object), object] as const);
      this.#objects.set(resource, new Map(objects));
    }
  }

  get(resource: string, namespace: string, name: string): KubeObject | null {
    const key = namespace === '' ? name : `${namespace}/${name}`;
    return this.#objects.get(resource)?.get(key) ?? null;
  }

  list(resource: string, namespace?: string): readonly KubeObject[] {
    const all = [...(this.#objects.get(resource)?.values() ?? [])];
    return namespace === undefined
      ? all
      : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.push(listener);
    return () => {};
  }

  take({ type, resource, object }: Pick<Change, 'type' | 'resource' | 'object'>): void {
    const objects = this.#objects.get(resource) ?? new Map<string, KubeObject>();
    this.#objects.set(resource, objects);
    const key = keyOf(object);
    const previous = objects.get(key) ?? null;
    if (type === 'DELETED' && !previous) return;
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
    const is = type === 'DELETED' ? type : previous ? 'MODIFIED' : 'ADDED';
    const now = type === 'DELETED' ? (previous ?? object) : object;
    for (const hear of this.#listeners) hear({ type: is, resource, key, object: now, previous });
  }
}
