// Limits of evictions as they are configured: what they count by, how many, in which window.
import { formatDuration, type Instant, type Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';

/** The thing that a limit counts by. */
export type LimitScope = 'total' | 'zone' | 'namespace' | 'node' | 'taint' | 'workload';

/**
 * A limit on evictions. Each zone, namespace, node, taint key or workload has a separate count.
 * `percent` and `pods` bound how many pods may be disrupted within a window: those that were
 * evicted in it, and those that are unavailable now.
 */
export interface LimitRule {
  /** The scope that has a count of its own. */
  readonly per: LimitScope;
  /** Only for the zone, namespace, node, taint key or workload of this name. Left out: for each. */
  readonly name?: string;
  /** Only pods on nodes with such labels; left out: on all nodes. */
  readonly nodes?: LabelSelector;
  /** The largest number of evictions that begin in a second, on average. */
  readonly podsPerSecond?: number;
  /**
   * The number that may begin at once after a pause; 1 or `podsPerSecond`, the larger of the two.
   */
  readonly burst?: number;
  /** At most this share of the pods may be disrupted within the window; one always may. */
  readonly percent?: number;
  /** The largest number of pods that may be disrupted within the window. */
  readonly pods?: number;
  /** The time for which an eviction counts; ten minutes when left out. */
  readonly windowMs?: Millis;
  /** At the limit: wait for room, or stop until told to go on. */
  readonly onLimit: 'queue' | 'trip';
}

/**
 * The window of a limit without `windowMs`, in milliseconds: long enough for evicted pods to be
 * running elsewhere, and for a person to look.
 */
export const defaultWindowMs: Millis = 600_000;

/** A pod that needs to be evicted, as limits see it. */
export interface Candidate {
  readonly pod: Pod;
  readonly taint: Taint | null;
  /**
   * The pod was bound after the taint that makes it leave. Such a pod uses up no window and trips
   * nothing, and is not held by a limit in which it does not count: otherwise any client that may
   * create pods could stop all evictions. A rate that queues it has to keep to.
   */
  readonly late: boolean;
}

/** The limit that says no. `name` is '' for the total. */
export interface LimitHit {
  /** The scope that has a count of its own. */
  readonly per: LimitScope;
  /** Name of the zone, namespace, node, taint key or workload. */
  readonly name: string;
  /** The labels of the nodes it is for, as kubectl writes selectors; left out: all nodes. */
  readonly nodes?: string;
  /** The policy that sets it; left out: the configuration of the process. */
  readonly policy?: string;
  /** The part of it; `record`: evictions have to be written down first. */
  readonly limit: 'podsPerSecond' | 'percent' | 'pods' | 'record';
  /** The limit stays shut until evictions are resumed. */
  readonly tripped: boolean;
  /** Left out: it has no window. */
  readonly count?: LimitCount;
}

/** The counts of a limit with a window. */
export interface LimitCount {
  /** Evicted within the window. */
  readonly evicted: number;
  /** Unavailable for other reasons. */
  readonly unavailable: number;
  /** The most that may be disrupted within the window. */
  readonly most: number;
  /** The pods of the scope when the window began. */
  readonly of: number;
  /** Length of the window. */
  readonly windowMs: Millis;
}

/** The state of one limit. */
export interface LimitStatus extends LimitHit {
  /** Its name where it is resumed. */
  readonly id: string;
  /** When it tripped; null: it is open. */
  readonly since: Instant | null;
  /** When its rate lets one pod go, or could have; left out: it has none, or none is used up. */
  readonly oneAt?: Instant;
}

/** True when the rule counts within a window. */
export function isWindowed({ percent, pods }: LimitRule): boolean {
  return percent !== undefined || pods !== undefined;
}

/** The name of a scope that a pod on this node counts in; null: it is in none. */
export function scopeName(per: LimitScope, pod: Pod, node: Node | null): string | null {
  switch (per) {
    case 'total':
      return '';
    case 'zone':
      return node?.zone ?? '';
    case 'namespace':
      return pod.namespace;
    case 'node':
      return pod.nodeName;
    case 'workload': {
      const { namespace, owner } = pod;
      return owner && `${namespace}/${owner.kind}/${owner.name}`;
    }
    case 'taint': // a pod is under as many keys as its node has
      return null;
  }
}

/** Names a limit for people: `zone=eu/a`, or `total nodes=pool=spot policy=spot`. */
export function limitId({
  per,
  name,
  nodes,
  policy,
}: Pick<LimitHit, 'per' | 'name' | 'nodes' | 'policy'>): string {
  const scope = name === '' ? per : `${per}=${name}`;
  const onNodes = nodes === undefined ? '' : ` nodes=${nodes}`;
  return `${scope}${onNodes}${policy === undefined ? '' : ` policy=${policy}`}`;
}

/** The command that opens a limit again, as it is typed in a shell: an owner of pods may have any name. */
export function resumeCommand(id: string): string {
  return `kubectl taintmgr resume '${id.replaceAll("'", String.raw`'\''`)}'`;
}

/** A selector as kubectl writes it. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    switch (operator) {
      case 'Exists':
        return key;
      case 'DoesNotExist':
        return `!${key}`;
      default:
        return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
    }
  });
  return [...labels, ...expressions].join(',');
}

/**
 * Describes the counts of a limit: `20 of 100 pods evicted and 0 unavailable within 10m, at most
 * 20`.
 */
export function describeCount({ evicted, unavailable, most, of, windowMs }: LimitCount): string {
  const window = formatDuration(windowMs);
  const down = unavailable > 0 ? ` and ${unavailable} unavailable` : '';
  return `${evicted} of ${of} pods evicted within ${window}${down}, at most ${most}`;
}
