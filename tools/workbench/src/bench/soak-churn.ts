// The changes that the cluster of bench/soak.ts goes through.
import {
  type ApiServer,
  type FaultRule,
  type KubeObject,
  node,
  pod,
  type Random,
  toleration,
} from '@taintmgr/sim-cluster';
import { noExecute } from './cluster-objects.ts';

const key = 'maintenance';
const nodes = 100;
const pods = 3_000;
const eventsPerSecond = 500;
const beatMs = 20;
const taintEveryMs = 2_000;
/** So many nodes are tainted at once; the one that was first is untainted. */
const taintedMax = 10;
const faultEveryMs = 5_000;
const downMs = 1_000;
/** A controller that waits sends few requests: what is left of a fault then would pile up. */
const faultMs = 3_000;
/** How late a pod may leave on a good day. */
const graceMs = 10_000;

/** What goes wrong, each for a few requests and not for long; chosen with equal chance. */
const faults: readonly FaultRule[] = [
  { fault: { kind: 'answer', code: 500 }, times: 20 },
  { fault: { kind: 'answer', code: 429 }, times: 20 },
  { fault: { kind: 'answer', code: 410 }, verbs: ['watch'], times: 1 },
  { fault: { kind: 'refuse' }, times: 10 },
  { fault: { kind: 'lose' }, times: 10 },
  { fault: { kind: 'delay', ms: 200 }, times: 50 },
  { fault: { kind: 'cut', afterMs: 1_000, how: 'reset' }, times: 2 },
  { fault: { kind: 'cut', afterMs: 1_000, how: 'end' }, times: 2 },
  { fault: { kind: 'halfOpen', afterMs: 500 }, verbs: ['watch'], times: 1 },
  { fault: { kind: 'duplicate', chance: 0.5 }, times: 2 },
];

/** A cluster in which something changes all the time; pods that are deleted leave at once. */
export class Churn {
  readonly #api: ApiServer;
  readonly #random: Random;
  readonly #tainted: string[] = [];
  readonly #leaving: KubeObject[] = [];
  #names: string[] = [];
  #disarm = (): void => {};
  #isCalm = false;
  #serial = 0;
  #events = 0;
  #evicted = 0;
  #faults = 0;

  constructor(api: ApiServer, random: Random) {
    this.#api = api;
    this.#random = random;
    for (let index = 0; index < nodes; index++) api.create('nodes', node(`n${index}`));
    for (let index = 0; index < pods; index++) this.#createPod();
    api.subscribe(({ resource, type, object }) => {
      this.#events += 1;
      if (resource !== 'pods' || type !== 'MODIFIED') return;
      if (object.metadata.deletionTimestamp !== undefined) this.#leaving.push(object);
    });
  }

  /** Begins; returns the way to end. */
  start(): () => void {
    const timers = [
      setInterval(() => this.#beat(), beatMs),
      setInterval(() => this.#taintNext(), taintEveryMs),
      setInterval(() => this.#fail(), faultEveryMs),
    ];
    return () => {
      for (const timer of timers) clearInterval(timer);
    };
  }

  /** From now on no more nodes are tainted and nothing goes wrong. */
  calm(): void {
    this.#isCalm = true;
    this.#disarm();
    this.#api.faults.down = false;
    this.#api.faults.breakStreams();
  }

  /** How many pods should have left for a while. */
  overdue(): number {
    const latest = Date.now() - graceMs;
    return this.#api.list('pods').filter(({ metadata, spec }) => {
      const [taint] = this.#api.get('nodes', '', spec.nodeName)?.spec.taints ?? [];
      const { tolerationSeconds } = spec.tolerations[0];
      if (!taint) return false;
      const due = Date.parse(taint.timeAdded) + tolerationSeconds * 1000;
      return Math.max(due, Date.parse(metadata.creationTimestamp ?? '')) < latest;
    }).length;
  }

  describe(): string {
    const { length } = this.#api.list('pods');
    return `${this.#events} events, ${this.#evicted} evicted, ${length} pods, ${this.#faults} faults`;
  }

  /** As many changes as are due: most are of a pod's status, some pods come and go. */
  #beat(): void {
    for (const { metadata } of this.#leaving.splice(0)) {
      this.#evicted += 1;
      this.#remove(metadata.name);
    }
    for (let count = 0; count < (eventsPerSecond * beatMs) / 1000; count++) {
      if (this.#names.length < pods) this.#createPod();
      else if (this.#random() < 0.05) this.#remove(this.#anyName());
      else this.#restart(this.#anyName());
    }
  }

  #anyName(): string {
    return this.#names[Math.floor(this.#random() * this.#names.length)] ?? '';
  }

  #createPod(): void {
    const name = `p${this.#serial++}`;
    const seconds = 1 + Math.floor(this.#random() * 5);
    const one = pod('default', name, {
      spec: { nodeName: `n${Math.floor(this.#random() * nodes)}` },
    });
    const tolerations = [toleration(`${key}:NoExecute`, seconds)];
    this.#api.create('pods', { ...one, spec: { ...one.spec, tolerations } });
    this.#names.push(name);
  }

  #remove(name: string): void {
    if (!this.#api.get('pods', 'default', name)) return;
    this.#api.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
    this.#names = this.#names.filter((other) => other !== name);
  }

  #restart(name: string): void {
    const one = this.#api.get('pods', 'default', name);
    if (!one) return;
    const message = `restarted ${this.#serial++} times`;
    this.#api.update('pods', { ...one, status: { ...one.status, message } }, 'status');
  }

  #taintNext(): void {
    if (this.#isCalm) return;
    const name = `n${Math.floor(this.#random() * nodes)}`;
    if (this.#tainted.includes(name)) return;
    this.#tainted.push(name);
    this.#setTaints(name, [noExecute(key)]);
    if (this.#tainted.length > taintedMax) this.#setTaints(this.#tainted.shift() ?? '', []);
  }

  #setTaints(name: string, taints: readonly object[]): void {
    const one = this.#api.get('nodes', '', name);
    if (one) this.#api.update('nodes', { ...one, spec: { ...one.spec, taints: [...taints] } });
  }

  /** Something goes wrong: a server that is away, streams that break, or a fault of the table. */
  #fail(): void {
    if (this.#isCalm) return;
    this.#faults += 1;
    const chance = Math.floor(this.#random() * (faults.length + 2));
    const rule = faults[chance];
    if (rule) {
      this.#disarm = this.#api.faults.add(rule);
      setTimeout(this.#disarm, faultMs);
    } else if (chance === faults.length) this.#api.faults.breakStreams();
    else {
      this.#api.faults.down = true;
      setTimeout(() => {
        this.#api.faults.down = false;
      }, downMs);
    }
  }
}
