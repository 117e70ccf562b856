import type { Blocker } from '../eviction/blocker.ts';
import type { Instant } from '../time.ts';
import type { DrainConfig } from './config.ts';
import type { DrainPods } from './pods.ts';
import {
  type DrainFailure,
  type DrainNode,
  type DrainNodePhase,
  type DrainNote,
  type DrainPod,
  isEnded,
  isSettled,
} from './state.ts';
import { nodesToBegin, nodesToLeave } from './turns.ts';

/** How the drain's taint was last seen on a node. */
type Sight =
  | { readonly kind: 'unseen' }
  | { readonly kind: 'bare'; readonly since: Instant }
  | { readonly kind: 'tainted' };

/** The target nodes: whose turn it is, and how each ends. */
export class DrainNodes {
  readonly #config: DrainConfig;
  readonly #note: (note: DrainNote) => void;
  readonly #phases = new Map<string, DrainNodePhase>();
  readonly #sights = new Map<string, Sight>();

  constructor(config: DrainConfig, note: (note: DrainNote) => void) {
    this.#config = config;
    this.#note = note;
    for (const { name } of config.targets) {
      this.#phases.set(name, { kind: 'pending' });
      this.#sights.set(name, { kind: 'unseen' });
    }
  }

  list(): readonly DrainNode[] {
    return this.#config.targets.map(({ name, zone }) => ({ name, zone, phase: this.#phase(name) }));
  }

  get allEnded(): boolean {
    return [...this.#phases.values()].every(isEnded);
  }

  has(name: string): boolean {
    return this.#phases.has(name);
  }

  isEnded(name: string): boolean {
    return isEnded(this.#phase(name));
  }

  isDraining(name: string): boolean {
    return this.#phase(name).kind === 'draining';
  }

  /** When a node's turn came; null: it has not come. */
  begunAt(name: string): Instant | null {
    const phase = this.#phase(name);
    return phase.kind === 'draining' ? phase.since : null;
  }

  /** The node is there, with the taint or without. */
  seen(now: Instant, name: string, isTainted: boolean): void {
    const before = this.#sights.get(name);
    if (!before || this.isEnded(name)) return;
    if (isTainted) this.#sights.set(name, { kind: 'tainted' });
    else if (before.kind === 'tainted') this.#end(name, failed('TaintRemoved', now));
    else if (before.kind === 'unseen') this.#sights.set(name, { kind: 'bare', since: now });
  }

  vanished(now: Instant, name: string): void {
    if (this.has(name) && !this.isEnded(name)) this.#end(name, { kind: 'vanished', at: now });
  }

  /** Everything there is has been seen: a node that was not is gone. */
  synced(now: Instant): void {
    for (const [name, { kind }] of this.#sights) if (kind === 'unseen') this.vanished(now, name);
  }

  /** Begins with the nodes whose turn has come; a node without its taint is waited for a while. */
  begin(now: Instant): void {
    for (const { name } of nodesToLeave(this.list(), this.#config)) {
      this.#end(name, failed('NotBegun', now));
    }
    for (const { name } of nodesToBegin(this.list(), this.#config)) {
      const sight = this.#sights.get(name);
      if (sight?.kind === 'tainted') {
        this.#phases.set(name, { kind: 'draining', since: now });
        this.#note({ kind: 'nodeBegun', node: name });
      } else if (sight?.kind === 'bare' && now >= sight.since + this.#config.confirmationWaitMs) {
        this.#end(name, failed('TaintRemoved', now));
      }
    }
  }

  /** Ends the nodes whose time is over. */
  expire(now: Instant, pods: DrainPods): void {
    for (const { name, at } of this.#timeouts()) {
      if (at > now) continue;
      const isHeld = pods
        .on(name)
        .some(({ state, blocker }) => state.kind !== 'gone' && isInTheWay(blocker));
      this.#end(name, failed(isHeld ? 'Blocked' : 'TimedOut', now));
    }
  }

  /** Ends the nodes of whose pods nothing more is expected; whether there were any. */
  end(now: Instant, pods: DrainPods): boolean {
    let hasEnded = false;
    for (const { name, phase } of this.list()) {
      const here = pods.on(name);
      if (phase.kind !== 'draining' || !here.every(({ state }) => isSettled(state))) continue;
      const why = failureOf(here);
      this.#end(name, why ? failed(why, now) : { kind: 'drained', since: phase.since, at: now });
      hasEnded = true;
    }
    return hasEnded;
  }

  /** When the next node is out of time, or is waited for no longer; null: never. */
  nextTimeout(): Instant | null {
    const waits = [...this.#sights].flatMap(([name, sight]) =>
      sight.kind === 'bare' && !this.isEnded(name)
        ? sight.since + this.#config.confirmationWaitMs
        : [],
    );
    const times = [...this.#timeouts().map(({ at }) => at), ...waits];
    return times.length === 0 ? null : Math.min(...times);
  }

  #timeouts(): readonly { readonly name: string; readonly at: Instant }[] {
    const { nodeTimeoutMs } = this.#config;
    if (nodeTimeoutMs === null) return [];
    return [...this.#phases].flatMap(([name, phase]) =>
      phase.kind === 'draining' ? [{ name, at: phase.since + nodeTimeoutMs }] : [],
    );
  }

  #phase(name: string): DrainNodePhase {
    return this.#phases.get(name) ?? { kind: 'pending' };
  }

  #end(name: string, phase: DrainNodePhase): void {
    this.#phases.set(name, phase);
    this.#note({ kind: 'nodeEnded', node: name, phase });
  }
}

function failed(why: DrainFailure, at: Instant): DrainNodePhase {
  return { kind: 'failed', why, at };
}

/** What a node fails for whose pods were given up; null: none was. */
function failureOf(pods: readonly DrainPod[]): DrainFailure | null {
  const failedOnes = pods.filter(({ state }) => state.kind === 'failed');
  if (failedOnes.length === 0) return null;
  return failedOnes.some(({ blocker }) => blocker?.code === 'Denied') ? 'Denied' : 'Blocked';
}

/** Whether somebody else has to do something about it. */
function isInTheWay(blocker: Blocker | null): boolean {
  return blocker !== null && blocker.verdict !== 'resolves';
}
