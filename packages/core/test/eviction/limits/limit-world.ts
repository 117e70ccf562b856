import type { Command, Engine, Event, Node, Outcome, Pod } from '@taintmgr/core';
import type { LimitHit, LimitRecord } from '@taintmgr/core/policy';

/** When every world begins. */
const start = 1_700_000_000_000;
const terminationMs = 1_000;

const aPod: Omit<Pod, 'namespace' | 'name' | 'uid' | 'nodeName'> = {
  tolerations: [],
  boundAt: start - 3_600_000,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
  ready: 'True',
};

/** A cluster so small that it fits a test: what an engine evicts terminates for a second, and goes. */
export class World {
  now = start;
  /** The pods that went, by name, in order. */
  readonly evicted: string[] = [];
  /** Kubernetes Events and the like, as they came. */
  readonly told: Command[] = [];
  /** What happens when a pod has gone. */
  onGone: (name: string, at: number) => void = () => {};
  /** What comes of a pod's eviction; null: it goes. */
  outcome: (name: string) => Outcome | null = () => null;
  /** How long it takes to write down what limits have counted. */
  recordMs = 0;
  engine: Engine;
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #leaving = new Map<string, number>();
  /** Records that are being written, and when they are. */
  readonly #writing = new Map<string, number>();
  #synced = false;
  /** What is written of limits; null: nothing yet. */
  #record: LimitRecord | null = null;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  node(name: string, more: Partial<Node> = {}): void {
    this.#put({ name, uid: name, zone: 'a', taints: [], ...more });
  }

  pod(fullName: string, nodeName: string, more: Partial<Pod> = {}): void {
    const [namespace = '', name = ''] = fullName.split('/');
    const pod: Pod = { ...aPod, namespace, name, uid: fullName, nodeName, ...more };
    this.#pods.set(fullName, pod);
    this.tell({ kind: 'podUpsert', pod });
  }

  /** What is said of the pod changes; of one that went, nothing. */
  changePod(fullName: string, more: Partial<Pod>): void {
    const pod = this.#pods.get(fullName);
    if (pod) this.pod(fullName, pod.nodeName, { ...pod, ...more });
  }

  pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  nodeOf(nodeName: string): Node {
    const node = this.#nodes.get(nodeName);
    if (!node) throw new Error(`there is no node ${nodeName}`);
    return node;
  }

  /** Somebody else deletes it. */
  deletePod(fullName: string): void {
    this.#pods.delete(fullName);
    this.tell({ kind: 'podDelete', uid: fullName });
  }

  taint(nodeName: string, key: string, timeAdded: number | null = null): void {
    const { taints } = this.nodeOf(nodeName);
    const taint = { key, value: '', effect: 'NoExecute', timeAdded };
    this.change(nodeName, { taints: [...taints, taint] });
  }

  change(nodeName: string, more: Partial<Node>): void {
    this.#put({ ...this.nodeOf(nodeName), ...more });
  }

  /** What is shut until evictions are resumed. */
  tripped(): readonly LimitHit[] {
    return this.engine.limits(this.now).filter(({ tripped }) => tripped);
  }

  tell(event: Event): void {
    if (event.kind === 'synced') this.#synced = true;
    this.#carryOut(this.engine.handle(this.now, event));
  }

  /** Another engine takes over, and is told everything that exists. */
  takeOver(engine: Engine): void {
    this.engine = engine;
    for (const node of this.#nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    for (const pod of this.#pods.values()) this.tell({ kind: 'podUpsert', pod });
    if (this.#synced) this.tell({ kind: 'synced' });
  }

  /** Lets time pass, in steps of a tenth of a second. */
  pass(seconds: number): void {
    const end = this.now + seconds * 1000;
    for (;;) {
      this.#settle();
      if (this.now >= end) return;
      this.now += 100;
    }
  }

  /** Lets time pass from one thing that happens to the next. */
  rest(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      this.#settle();
      const wake = this.engine.nextWake() ?? Infinity;
      const next = Math.min(wake, ...this.#leaving.values(), ...this.#writing.values());
      if (next > end) break;
      this.now = next;
    }
    this.now = end;
  }

  #settle(): void {
    for (const [id, at] of this.#writing) {
      if (at > this.now) continue;
      this.#writing.delete(id);
      this.#answer(id, { kind: 'done' });
    }
    for (const [name, at] of this.#leaving) {
      if (at > this.now) continue;
      this.#leaving.delete(name);
      this.#pods.delete(name);
      this.tell({ kind: 'podDelete', uid: name });
      this.onGone(name, this.now);
    }
    for (let turns = 0; (this.engine.nextWake() ?? Infinity) <= this.now; turns++) {
      if (turns > 1000) throw new Error('the engine wakes for ever');
      this.tell({ kind: 'tick' });
    }
  }

  #put(node: Node): void {
    this.#nodes.set(node.name, node);
    this.tell({ kind: 'nodeUpsert', node });
  }

  #carryOut(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.kind !== 'deletePod' && command.kind !== 'evictPod') {
        this.told.push(command);
        if (command.kind === 'keepLimits') this.#record = command.record;
        if (command.kind === 'readLimits')
          this.tell({ kind: 'limitRecord', record: this.#record, resume: null });
        if (command.kind === 'keepLimits' && this.recordMs > 0)
          this.#writing.set(command.id, this.now + this.recordMs);
        else if ('id' in command) this.#answer(command.id, { kind: 'done' });
        continue;
      }
      const name = command.pod.uid;
      const outcome = this.outcome(name);
      if (outcome) this.#answer(command.id, outcome);
      else this.#remove(name, command.id);
    }
  }

  #remove(name: string, id: string): void {
    const pod = this.#pods.get(name);
    this.#answer(id, pod ? { kind: 'done' } : { kind: 'gone' });
    if (!pod || this.#leaving.has(name)) return;
    this.evicted.push(name);
    this.#leaving.set(name, this.now + terminationMs);
    this.tell({ kind: 'podUpsert', pod: { ...pod, deletionTimestamp: this.now } });
  }

  #answer(id: string, outcome: Outcome): void {
    this.tell({ kind: 'result', id, outcome });
  }
}
