import {
  createEngine,
  type Engine,
  type NodeExplanation,
  type PodExplanation,
} from '@taintmgr/core';
import type { Comparison } from '@taintmgr/core/differences';
import type { Instant } from '@taintmgr/core/time';
import type { NodeFacts, PodFacts } from '../cluster/facts.ts';
import type { NodeSurvey } from '../cluster/survey.ts';
import { assumedHistory } from './assumed-history.ts';
import { hypotheticalTaints, isWhatIf, type Question } from './question.ts';

/**
 * Asks the engine about a cluster that was read. It never acts. What it has seen before it
 * remembers, as since when a taint is there that does not say so itself.
 */
export class Explainer {
  readonly #question: Question;
  readonly #asked = createEngine({ leader: false });
  /** Without the hypothetical taints; null where there are none. */
  readonly #present: Engine | null;
  #upstream: Engine | null = null;
  #nodes = new Set<string>();
  #pods = new Set<string>();
  #latest: Instant = Number.NEGATIVE_INFINITY;

  constructor(question: Question) {
    this.#question = question;
    this.#present = isWhatIf(question) ? createEngine({ leader: false }) : null;
    for (const engine of this.#engines()) engine.handle(0, { kind: 'synced' });
  }

  /** Takes the present state of everything; what is not in it is gone. */
  take({ at, nodes, pods }: Pick<NodeSurvey, 'at' | 'nodes' | 'pods'>): void {
    const now = Math.max(at, this.#latest);
    this.#latest = now;
    this.#forget(now, nodes, pods);
    for (const { node } of nodes) {
      this.#present?.handle(now, { kind: 'nodeUpsert', node });
      this.#asked.handle(now, { kind: 'nodeUpsert', node: this.#hypothetical(node, now) });
    }
    for (const { pod } of pods) {
      for (const engine of this.#engines()) engine.handle(now, { kind: 'podUpsert', pod });
    }
    this.#upstream = this.#question.compare ? this.#comparing(now, nodes, pods) : null;
  }

  /** The answer about one node as it would be; null for one that was not events of. */
  node(now: Instant, name: string): NodeExplanation | null {
    const explanation = this.#asked.explain(now + this.#question.after, { kind: 'node', name });
    return explanation?.kind === 'node' ? explanation : null;
  }

  /** The answer about one pod. */
  pod(now: Instant, { pod }: PodFacts): PodExplanation | null {
    return explainPod(this.#asked, now + this.#question.after, pod);
  }

  /** The same without the hypothetical taints; null where there are none. */
  present(now: Instant, { pod }: PodFacts): PodExplanation | null {
    return this.#present && explainPod(this.#present, now, pod);
  }

  /** What kube-controller-manager would do about a pod; null where that was not asked. */
  upstream(now: Instant, { pod }: PodFacts): Comparison | null {
    const at = now + this.#question.after;
    const explanation = this.#upstream && explainPod(this.#upstream, at, pod);
    return explanation?.upstream ?? null;
  }

  #engines(): readonly Engine[] {
    return this.#present ? [this.#asked, this.#present] : [this.#asked];
  }

  #hypothetical(node: NodeFacts['node'], now: Instant): NodeFacts['node'] {
    return { ...node, taints: hypotheticalTaints(node.taints, this.#question, now) };
  }

  #forget(now: Instant, nodes: readonly NodeFacts[], pods: readonly PodFacts[]): void {
    const names = new Set(nodes.map(({ node }) => node.name));
    const uids = new Set(pods.map(({ pod }) => pod.uid));
    for (const engine of this.#engines()) {
      for (const uid of this.#pods) {
        if (!uids.has(uid)) engine.handle(now, { kind: 'podDelete', uid });
      }
      for (const name of this.#nodes) {
        if (!names.has(name)) engine.handle(now, { kind: 'nodeDelete', name });
      }
    }
    this.#nodes = names;
    this.#pods = uids;
  }

  /** An engine that has been there all along, with kube-controller-manager beside it. */
  #comparing(now: Instant, nodes: readonly NodeFacts[], pods: readonly PodFacts[]): Engine {
    const engine = createEngine({ leader: false, compare: true });
    const history = assumedHistory(
      now,
      now + this.#question.after,
      nodes.map(({ node }) => this.#hypothetical(node, now)),
      pods.map(({ pod }) => pod),
    );
    engine.handle(0, { kind: 'leadership', held: true });
    for (const { at, event } of history) engine.handle(at, event);
    return engine;
  }
}

function explainPod(
  engine: Engine,
  now: Instant,
  { namespace, name }: PodFacts['pod'],
): PodExplanation | null {
  const explanation = engine.explain(now, { kind: 'pod', namespace, name });
  return explanation?.kind === 'pod' ? explanation : null;
}
