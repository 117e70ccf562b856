// Policies whose limits count all pods: while there is one, the pods of all nodes are read.
import { allPodsNeeds, type Event } from '@taintmgr/core';
import type { EvictionPause, EvictionPolicy } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import type { PodSource } from './pod-source.ts';
import type { Source, SourceEffect } from './source.ts';

type PolicyUpsert = Extract<Event, { readonly kind: 'policyUpsert' }>;
type Effects = readonly (Event | SourceEffect)[];

/**
 * Stands between the source of policies, that of pods, and the machine. Theory of operation: a policy
 * that needs all pods makes the source of pods read them all, and reaches the machine when they are
 * known; until then it might count too few, so that a pause holds all evictions. The pause lasts for a
 * list of pods, and pods have back the time that it takes. When no policy needs all pods any more, they
 * may be read by node again, as in any cluster that has become calm (scope.ts).
 */
export class AllPodsPolicies {
  readonly #pods: PodSource;
  readonly #needing = new Set<string>();
  /** Those that the machine has not heard of. */
  readonly #waiting = new Map<string, PolicyUpsert>();

  constructor(pods: PodSource) {
    this.#pods = pods;
  }

  /** The source of policies, which gives the machine one when it can be followed. */
  policies(source: Source): Source {
    return {
      ...source,
      handle: (now, input) =>
        source.handle(now, input).flatMap((effect) => this.#followed(now, effect)),
    };
  }

  /**
   * The source of drains: while one is not over, all pods are read. It reaches the machine at once,
   * which begins with no node whose pods are not known.
   */
  drains(source: Source): Source {
    return {
      ...source,
      handle: (now, input) =>
        source.handle(now, input).flatMap((effect) => {
          if (effect.kind === 'nodeDrainUpsert' && !effect.drain.isOver) {
            this.#needing.add(drainName(effect.drain.name));
            return [effect, ...this.#pods.readAll(now, true)];
          }
          if (effect.kind === 'nodeDrainUpsert' || effect.kind === 'nodeDrainDelete') {
            const name = effect.kind === 'nodeDrainDelete' ? effect.name : effect.drain.name;
            return [effect, ...this.#notNeeded(now, drainName(name))];
          }
          return [effect];
        }),
    };
  }

  /** The source of pods, which gives the policies that have waited for it. */
  pods(source: Source): Source {
    return {
      ...source,
      handle: (now, input) => {
        const effects = source.handle(now, input);
        if (this.#waiting.size === 0 || !this.#pods.readsAll) return effects;
        const released = [...this.#waiting.values()].flatMap((event) => this.#released(event));
        return [...effects, ...released];
      },
    };
  }

  #followed(now: Instant, effect: Event | SourceEffect): Effects {
    if (effect.kind === 'policyUpsert') {
      return needsAllPods(effect.policy)
        ? this.#needed(now, effect)
        : [effect, ...this.#notNeeded(now, effect.policy.name)];
    }
    if (effect.kind === 'policyDelete') return [effect, ...this.#notNeeded(now, effect.name)];
    return [effect];
  }

  #needed(now: Instant, event: PolicyUpsert): Effects {
    const { name } = event.policy;
    this.#needing.add(name);
    const reading = this.#pods.readAll(now, true);
    this.#waiting.set(name, event);
    if (this.#pods.readsAll) return [...reading, ...this.#released(event)];
    return [...reading, { kind: 'pauseUpsert', pause: waitingPause(name) }];
  }

  #notNeeded(now: Instant, name: string): Effects {
    if (!this.#needing.delete(name)) return [];
    const released: Effects = this.#waiting.delete(name) ? [pauseOver(name)] : [];
    return [...released, ...this.#pods.readAll(now, this.#needing.size > 0)];
  }

  /** The policy first: nothing goes between its pause and it. */
  #released(event: PolicyUpsert): Effects {
    const { name } = event.policy;
    this.#waiting.delete(name);
    return [event, pauseOver(name)];
  }
}

/** A limit that counts within a window looks at all pods. */
function needsAllPods({ limits }: EvictionPolicy): boolean {
  return allPodsNeeds({ limits }).length > 0;
}

/** No policy has such a name. */
function drainName(name: string): string {
  return `NodeDrain/${name}`;
}

function pauseOver(name: string): Event {
  return { kind: 'pauseDelete', name: pauseName(name) };
}

/** No object of the cluster has such a name. */
function pauseName(name: string): string {
  return `EvictionPolicy/${name}/pods`;
}

function waitingPause(name: string): EvictionPause {
  return {
    name: pauseName(name),
    uid: '',
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: `EvictionPolicy "${name}" limits a share or a number of pods: the pods of all nodes are being read`,
    until: null,
    // From when it is heard of.
    since: Number.POSITIVE_INFINITY,
  };
}
