// The policies, pauses, taint rules and namespaces of the cluster, as events have told of them.
import { earliest, finite, type Instant } from '../kernel/time.ts';
import type { Namespace } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import { inPolicyOrder } from './choice.ts';
import type { EvictionPause, EvictionPolicy, NodeTaintRule } from './values.ts';

/** One kind of object by name: what was there before, and whether anything changed that matters. */
interface Replaced<T> {
  readonly previous: T | null;
  readonly isNews: boolean;
}

/**
 * What the cluster says is to be done. An object that comes again and says the same is no news: its
 * status may be written often. A pause that has a time at which it ends is over from then on.
 */
export class PolicyStore {
  readonly #policies = new Map<string, EvictionPolicy>();
  readonly #pauses = new Map<string, EvictionPause>();
  readonly #rules = new Map<string, NodeTaintRule>();
  readonly #namespaces = new Map<string, Labels>();
  /** The pauses that are over, though they are still there. */
  readonly #over = new Set<string>();
  #inOrder: readonly EvictionPolicy[] = [];

  /** The policies in the order in which they count. */
  get policies(): readonly EvictionPolicy[] {
    return this.#inOrder;
  }

  /** All pauses that are there, those that are over too. */
  get pauses(): Iterable<EvictionPause> {
    return this.#pauses.values();
  }

  get taintRules(): Iterable<NodeTaintRule> {
    return this.#rules.values();
  }

  get namespaces(): Iterable<readonly [name: string, labels: Labels]> {
    return this.#namespaces;
  }

  /** Whether a pause that is there is over. */
  isOver(name: string): boolean {
    return this.#over.has(name);
  }

  /** Null: the namespace is not known. */
  namespaceLabels(name: string): Labels | null {
    return this.#namespaces.get(name) ?? null;
  }

  /** Null: it is gone. */
  putPolicy(name: string, policy: EvictionPolicy | null): Replaced<EvictionPolicy> {
    const replaced = replace(this.#policies, name, policy);
    this.#inOrder = [...this.#policies.values()].sort(inPolicyOrder);
    return replaced;
  }

  /** Null: it is gone. */
  putPause(name: string, pause: EvictionPause | null): Replaced<EvictionPause> {
    const replaced = replace(this.#pauses, name, pause);
    if (replaced.isNews) this.#over.delete(name);
    return replaced;
  }

  /** Null: it is gone. */
  putTaintRule(name: string, rule: NodeTaintRule | null): Replaced<NodeTaintRule> {
    return replace(this.#rules, name, rule);
  }

  /** Null: it is gone. */
  putNamespace(name: string, namespace: Namespace | null): Replaced<Labels> {
    return replace(this.#namespaces, name, namespace?.labels ?? null);
  }

  /** The pauses whose time is over by now, by the clock of the cluster; each is told of once. */
  endPauses(wall: Instant): readonly EvictionPause[] {
    // Asked at each event, and nearly always there are none.
    if (this.#pauses.size === 0) return [];
    const ended = [...this.#running()].filter(({ until }) => until !== null && until <= wall);
    for (const { name } of ended) this.#over.add(name);
    return ended;
  }

  /** When the next one is over; null: none ends by itself. */
  nextPauseEnd(): Instant | null {
    if (this.#pauses.size === 0) return null;
    return earliest(Array.from(this.#running(), ({ until }) => finite(until)));
  }

  *#running(): Iterable<EvictionPause> {
    for (const pause of this.#pauses.values()) if (!this.#over.has(pause.name)) yield pause;
  }
}

function replace<T extends object>(
  map: Map<string, T>,
  name: string,
  value: T | null,
): Replaced<T> {
  const previous = map.get(name) ?? null;
  if (value) map.set(name, value);
  else map.delete(name);
  return { previous, isNews: said(previous) !== said(value) };
}

/** What an object says, without which of its versions says it. */
function said(value: object | null): string {
  return JSON.stringify(value, (key, member) =>
    key === 'uid' || key === 'generation' ? undefined : member,
  );
}
