import { isDeepStrictEqual } from 'node:util';
import { type Command, createEngine, type Event, type Pod, type Toleration } from '@taintmgr/core';
import { taintFrom, tolerationFrom, type VectorTaint, type VectorToleration } from './objects.ts';

// Replays recorded histories of the real taint-eviction-controller: the engine under semantics
// upstream-1.36 against a pod API as simple as the recorder's own.

interface NewPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly tolerations: readonly VectorToleration[];
  /** How long a deleted pod stays; null: for ever. */
  readonly removedAfterDeleteMs: number | null;
  readonly deleteFailures?: number;
}

type Step = { readonly atMs: number } & (
  | { readonly type: 'nodeUpsert'; readonly node: string; readonly taints: readonly VectorTaint[] }
  | { readonly type: 'nodeTouch' | 'nodeDelete'; readonly node: string }
  | { readonly type: 'podCreate'; readonly newPod: NewPod }
  | {
      readonly type: 'podTolerations';
      readonly pod: string;
      readonly tolerations: readonly VectorToleration[];
    }
  | { readonly type: 'podBind'; readonly pod: string; readonly node: string }
  | { readonly type: 'podTouch'; readonly pod: string }
  | { readonly type: 'podRemove'; readonly pod: string }
);

interface Action {
  readonly atMs: number;
  readonly pod: string;
  readonly action: string;
  readonly result?: string;
}

interface Pending {
  readonly pod: string;
  readonly createdAtMs: number;
  readonly fireAtMs: number;
}

export interface Scenario {
  readonly events: readonly Step[];
  readonly horizonMs: number;
  readonly actions: readonly Action[];
  readonly pendingAfterEvent: readonly (readonly Pending[])[];
  readonly pendingAtHorizon: readonly Pending[];
}

/** What differs from the recording; null when nothing does. */
export function checkScenario(scenario: Scenario): string | null {
  const replay = new Replay();
  for (const [index, step] of scenario.events.entries()) {
    replay.advanceTo(step.atMs);
    replay.apply(step);
    const pending = replay.pending(step.atMs);
    if (!isDeepStrictEqual(pending, sortPending(scenario.pendingAfterEvent[index] ?? []))) {
      return `pending after event ${index}: ${JSON.stringify(pending)}`;
    }
  }
  replay.advanceTo(scenario.horizonMs);
  const atHorizon = replay.pending(scenario.horizonMs);
  if (!isDeepStrictEqual(atHorizon, sortPending(scenario.pendingAtHorizon))) {
    return `pending at the horizon: ${JSON.stringify(atHorizon)}`;
  }
  const [ours, theirs] = [sortActions(replay.actions), sortActions(scenario.actions)];
  const first = theirs.findIndex((action, index) => !isDeepStrictEqual(action, ours[index]));
  if (first < 0 && ours.length === theirs.length) return null;
  const at = first < 0 ? theirs.length : first;
  return `action ${at}: ${JSON.stringify(ours[at])}, recorded ${JSON.stringify(theirs[at])}`;
}

interface ApiPod {
  pod: Pod;
  readonly removedAfterDeleteMs: number | null;
  failuresLeft: number;
  marked: boolean;
}

class Replay {
  readonly actions: Action[] = [];
  readonly #engine = createEngine({ semantics: 'upstream-1.36' });
  readonly #pods = new Map<string, ApiPod>();
  readonly #nodes = new Map<string, readonly VectorTaint[]>();
  /** When terminating pods leave, in order. */
  readonly #removals: { readonly at: number; readonly uid: string; readonly key: string }[] = [];

  constructor() {
    this.#tell(0, { kind: 'synced' });
  }

  advanceTo(instant: number): void {
    for (let next = this.#next(); next !== null && next <= instant; next = this.#next()) {
      const removal = this.#removals.find(({ at }) => at === next);
      if (removal) this.#removeTerminated(removal);
      else this.#tell(next, { kind: 'tick' });
    }
  }

  apply(step: Step): void {
    const now = step.atMs;
    switch (step.type) {
      case 'nodeUpsert':
        this.#nodes.set(step.node, step.taints);
        this.#upsertNode(now, step.node);
        break;
      case 'nodeTouch':
        this.#upsertNode(now, step.node);
        break;
      case 'nodeDelete':
        this.#nodes.delete(step.node);
        this.#tell(now, { kind: 'nodeDelete', name: step.node });
        break;
      case 'podCreate':
        this.#createPod(now, step.newPod);
        break;
      case 'podRemove':
        this.#removePod(now, step.pod);
        break;
      default:
        this.#changePod(now, step.pod, changeOf(step));
    }
  }

  /** What the engine says it will do, in the recorder's form: -1 while a deletion is retried. */
  pending(now: number): readonly Pending[] {
    const nodes = new Set([...this.#pods.values()].map(({ pod }) => pod.nodeName));
    const explained = [...nodes].flatMap((name) => this.#explainedOn(now, name));
    return sortPending(explained);
  }

  #explainedOn(now: number, nodeName: string): readonly Pending[] {
    const pods = [...this.#pods.values()].filter(({ pod }) => pod.nodeName === nodeName);
    return pods.flatMap(({ pod }) => {
      const { namespace, name } = pod;
      const explanation = this.#engine.explain(now, { kind: 'pod', namespace, name });
      if (explanation?.kind !== 'pod' || !explanation.attempt) return [];
      const { attempt } = explanation;
      const key = keyOf(pod);
      if (attempt.kind !== 'waiting') return [{ pod: key, createdAtMs: -1, fireAtMs: -1 }];
      return [{ pod: key, createdAtMs: attempt.since, fireAtMs: attempt.until }];
    });
  }

  #next(): number | null {
    const wakes = this.#removals.map(({ at }) => at);
    const wake = this.#engine.nextWake();
    if (wake !== null) wakes.push(wake);
    return wakes.length === 0 ? null : Math.min(...wakes);
  }

  #upsertNode(now: number, name: string): void {
    const taints = this.#nodes.get(name);
    if (!taints) return;
    const node = { name, uid: name, taints: taints.map(taintFrom) };
    this.#tell(now, { kind: 'nodeUpsert', node });
  }

  #createPod(now: number, newPod: NewPod): void {
    const { namespace, name, uid, nodeName, removedAfterDeleteMs, deleteFailures = 0 } = newPod;
    const tolerations: readonly Toleration[] = newPod.tolerations.map(tolerationFrom);
    const pod: Pod = {
      ...{ namespace, name, uid, nodeName, tolerations },
      ...{ boundAt: null, deletionTimestamp: null, phase: 'Running', generation: 1 },
      ...{ mirror: false, owner: null, hasEmptyDir: false },
    };
    const entry = { pod, removedAfterDeleteMs, failuresLeft: deleteFailures, marked: false };
    this.#pods.set(keyOf(pod), entry);
    this.#tell(now, { kind: 'podUpsert', pod });
  }

  #changePod(now: number, key: string, change: Partial<Pod>): void {
    const entry = this.#pods.get(key);
    if (!entry) return;
    entry.pod = { ...entry.pod, ...change };
    this.#tell(now, { kind: 'podUpsert', pod: entry.pod });
  }

  #removePod(now: number, key: string): void {
    const entry = this.#pods.get(key);
    if (!entry) return;
    this.#pods.delete(key);
    this.#tell(now, { kind: 'podDelete', uid: entry.pod.uid });
  }

  #removeTerminated(removal: { at: number; uid: string; key: string }): void {
    this.#removals.splice(this.#removals.indexOf(removal), 1);
    if (this.#pods.get(removal.key)?.pod.uid !== removal.uid) return;
    this.#removePod(removal.at, removal.key);
  }

  #tell(now: number, event: Event): void {
    for (const command of this.#engine.handle(now, event)) this.#perform(now, command);
  }

  #perform(now: number, command: Command): void {
    if (command.kind === 'recordEvent') {
      const action = command.message.startsWith('Cancelling') ? 'cancelEvent' : 'deletionEvent';
      this.#act(now, command.pod, action);
    }
    if (command.kind !== 'deletePod') return;
    const succeeded = this.#delete(now, keyOf(command.pod));
    const failed = { kind: 'failed', status: 500, message: '', retryAfter: null } as const;
    const outcome = succeeded ? ({ kind: 'done' } as const) : failed;
    this.#tell(now, { kind: 'result', id: command.id, outcome });
  }

  #delete(now: number, key: string): boolean {
    const entry = this.#pods.get(key);
    if (!entry) return false;
    const { pod, removedAfterDeleteMs } = entry;
    if (!entry.marked) this.#act(now, pod, 'patchDisruptionTarget');
    entry.marked = true;
    if (entry.failuresLeft > 0) {
      entry.failuresLeft -= 1;
      this.#act(now, pod, 'deletePod', 'serverError');
      return false;
    }
    if (pod.deletionTimestamp !== null) {
      this.#act(now, pod, 'deletePod', 'alreadyTerminating');
      return true;
    }
    this.#act(now, pod, 'deletePod', 'ok');
    if (removedAfterDeleteMs !== null) {
      this.#removals.push({ at: now + removedAfterDeleteMs, uid: pod.uid, key });
    }
    this.#changePod(now, key, { deletionTimestamp: now });
    return true;
  }

  #act(atMs: number, pod: { namespace: string; name: string }, action: string, result?: string) {
    this.actions.push({ atMs, pod: keyOf(pod), action, ...(result && { result }) });
  }
}

type PodStep = Extract<Step, { type: 'podTolerations' | 'podBind' | 'podTouch' }>;

function changeOf(step: PodStep): Partial<Pod> {
  switch (step.type) {
    case 'podTolerations':
      return { tolerations: step.tolerations.map(tolerationFrom) };
    case 'podBind':
      return { nodeName: step.node };
    case 'podTouch':
      return {};
  }
}

function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}

/** By time, then pod; the order in which things happened to one pod at one instant stays. */
function sortActions(actions: readonly Action[]): readonly Action[] {
  return [...actions].sort(
    (a, b) => a.atMs - b.atMs || (a.pod === b.pod ? 0 : a.pod < b.pod ? -1 : 1),
  );
}

function sortPending(pending: readonly Pending[]): readonly Pending[] {
  return [...pending].sort((a, b) => (a.pod < b.pod ? -1 : 1));
}
