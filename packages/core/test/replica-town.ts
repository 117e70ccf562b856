// A Deployment of the controller on four nodes, whose leader may evict its replicas.
import assert from 'node:assert/strict';
import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type NodeCondition,
  type Outcome,
  type Pod,
  type PodInput,
} from '@taintmgr/core';
import { fc } from './fast-check.ts';

export const namespace = 'taintmgr-system';
const hash = '5d8f6';
export const labels = { 'pod-template-hash': hash, app: 'taintmgr' };
export const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `controller-${hash}` };

export function readyIs(status: string): readonly NodeCondition[] {
  const times = { heartbeatAt: 0, transitionAt: 0 };
  return [{ type: 'Ready', status, reason: '', message: '', ...times }];
}

export function nodeOf(name: string, taints: readonly string[], status = 'True'): Node {
  return makeNode({ name, taints, conditions: readyIs(status) });
}

export function replica(name: string, nodeName: string, other: Partial<PodInput> = {}): Pod {
  return makePod({ namespace, name, nodeName, owner, labels, ...other });
}

export const bad = 'gpu=failed:NoExecute';

export const nodeNames = ['n1', 'n2', 'n3', 'n4'];

export type Step =
  | { readonly kind: 'taint' | 'untaint' | 'die' | 'revive'; readonly node: number }
  | { readonly kind: 'taintAll' | 'fail' | 'heal' }
  | { readonly kind: 'wait'; readonly ms: number };

export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('taint', 'untaint', 'die', 'revive'),
    node: fc.nat({ max: 3 }),
  }),
  fc.record({ kind: fc.constantFrom('taintAll', 'fail', 'heal') }),
  fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(1, 400, 3_000, 45_000) }),
);

/** What the API server does with requests, and how long pods take to start and to end. */
export interface Manners {
  readonly config: Partial<Config>;
  readonly graceMs: number;
  readonly startMs: number;
  /** Of requests that come one after the other: refused, lost on their way back, or accepted. */
  readonly answers: readonly ('done' | 'blocked' | 'lost')[];
}

export class Town {
  now = 0;
  readonly #nodes = new Map(nodeNames.map((name) => [name, nodeOf(name, [])]));
  readonly #pods = new Map<string, Pod>();
  readonly #later: { readonly at: number; readonly run: () => void }[] = [];
  readonly #manners: Manners;
  #leader: string | null = null;
  #engine: Engine | null = null;
  #serial = 0;
  #asked = 0;

  constructor(manners: Manners) {
    this.#manners = manners;
    this.#start('n1', 0);
    this.#start('n2', 0);
  }

  do(one: Step): void {
    if (one.kind === 'wait') this.pass(one.ms);
    else if (one.kind === 'taintAll') for (const name of nodeNames) this.node(name, [bad]);
    else if (one.kind === 'fail') this.#setReady('False');
    else if (one.kind === 'heal') this.#setReady('True');
    else if ('node' in one) {
      const name = nodeNames[one.node] ?? '';
      const dead = 'node.kubernetes.io/unreachable:NoExecute';
      const { kind } = one;
      const taints = { taint: [bad], untaint: [], die: [dead], revive: [] }[kind];
      this.node(name, taints, kind === 'die' ? 'Unknown' : 'True');
    }
  }

  node(name: string, taints: readonly string[], status = 'True'): void {
    const node = nodeOf(name, taints, status);
    this.#nodes.set(name, node);
    this.#tell({ kind: 'nodeUpsert', node });
    this.#schedule();
  }

  get podsOnTainted(): readonly string[] {
    const tainted = [...this.#pods.values()].filter(({ nodeName }) => {
      return (this.#nodes.get(nodeName)?.taints ?? []).length > 0;
    });
    return tainted.map(({ name }) => name);
  }

  pass(length: number): void {
    const until = this.now + length;
    for (let count = 0; ; count++) {
      assert.ok(count < 10_000, 'it comes to rest');
      const [next] = this.#later.sort((a, b) => a.at - b.at);
      const wake = this.#engine?.nextWake() ?? null;
      const at = Math.max(this.now, Math.min(wake ?? until + 1, next?.at ?? until + 1));
      if (at > until) break;
      this.now = at;
      if (next && next.at <= at) this.#later.shift()?.run();
      else this.#tell({ kind: 'tick' });
    }
    this.now = until;
  }

  /** Those that run: the leader, and who is ready on a node that is. */
  #working(): readonly Pod[] {
    return [...this.#pods.values()].filter((pod) => {
      if (pod.deletionTimestamp !== null) return false;
      const isThere = this.#nodes.get(pod.nodeName)?.conditions?.[0]?.status === 'True';
      return pod.uid === this.#leader || (pod.ready === 'True' && isThere);
    });
  }

  #tell(event: Event): void {
    for (const command of this.#engine?.handle(this.now, event) ?? []) this.#do(command);
  }

  #do(command: Command): void {
    if (!('id' in command)) return;
    if (command.kind !== 'deletePod' && command.kind !== 'evictPod') {
      this.#answer(command.id, { kind: 'done' });
      return;
    }
    const { answers } = this.#manners;
    const answer = answers[this.#asked++ % answers.length] ?? 'done';
    if (answer === 'blocked') {
      this.#answer(command.id, { kind: 'blocked', message: 'no', retryAfter: null });
      return;
    }
    const pod = this.#pods.get(command.pod.uid);
    if (pod && pod.deletionTimestamp === null) {
      const before = this.#working();
      const after = before.filter(({ uid }) => uid !== pod.uid);
      assert.ok(before.length === 0 || after.length > 0, `${pod.name} is the last that works`);
      this.#end(pod);
    }
    const lost: Outcome = { kind: 'failed', status: null, message: 'EOF', retryAfter: null };
    this.#answer(command.id, answer === 'lost' ? lost : { kind: 'done' });
  }

  #answer(id: string, outcome: Outcome): void {
    this.#at(50, () => this.#tell({ kind: 'result', id, outcome }));
  }

  /** It terminates; the watch shows that a moment later. On a dead node it goes on doing so. */
  #end(pod: Pod): void {
    const leaving = { ...pod, deletionTimestamp: this.now };
    this.#pods.set(pod.uid, leaving);
    this.#at(20, () => this.#tell({ kind: 'podUpsert', pod: leaving }));
    this.#at(30, () => this.#start('', this.#manners.startMs));
    this.#at(this.#manners.graceMs, () => {
      this.#pods.delete(pod.uid);
      this.#tell({ kind: 'podDelete', uid: pod.uid });
      if (this.#leader === pod.uid) this.#lead(null);
      this.#elect();
    });
  }

  #start(nodeName: string, startMs: number): void {
    const name = `p${this.#serial++}`;
    const starting = replica(name, nodeName, { ready: startMs === 0 ? 'True' : 'False' });
    this.#put(starting);
    this.#schedule();
  }

  #schedule(): void {
    const free = [...this.#nodes.values()].filter(({ taints }) => taints.length === 0);
    for (const pod of this.#pods.values()) {
      if (pod.nodeName !== '' || pod.deletionTimestamp !== null) continue;
      const node = free[this.#serial % Math.max(1, free.length)];
      if (!node) return;
      this.#put({ ...pod, nodeName: node.name });
      this.#at(this.#manners.startMs, () => this.#change(pod.uid, 'True'));
    }
    this.#elect();
  }

  #setReady(ready: string): void {
    for (const { uid, nodeName } of this.#pods.values()) {
      if (nodeName !== '') this.#change(uid, ready);
    }
  }

  #change(uid: string, ready: string): void {
    const pod = this.#pods.get(uid);
    if (pod) this.#put({ ...pod, ready });
    this.#elect();
  }

  #put(pod: Pod): void {
    this.#pods.set(pod.uid, pod);
    this.#tell({ kind: 'podUpsert', pod });
  }

  /** Where nobody leads, one that works begins to. */
  #elect(): void {
    if (this.#leader !== null) return;
    const [next] = this.#working();
    if (next) this.#lead(next);
  }

  #lead(pod: Pod | null): void {
    this.#leader = pod?.uid ?? null;
    const ownPod = pod && { namespace, name: pod.name };
    this.#engine = pod && createEngine({ ...this.#manners.config, ownPod });
    for (const node of this.#nodes.values()) this.#tell({ kind: 'nodeUpsert', node });
    for (const each of this.#pods.values()) this.#tell({ kind: 'podUpsert', pod: each });
    this.#tell({ kind: 'synced' });
  }

  #at(after: number, run: () => void): void {
    this.#later.push({ at: this.now + after, run });
  }
}
