import { parseTaint, type Taint } from '@taintmgr/core/model';
import { type Instant, type Millis, parseDuration } from '@taintmgr/core/time';
import type { PolicyObject } from '../kinds/manifest.ts';
import { losesPods } from '../survey/drained-nodes.ts';
import type { NodeFacts } from '../survey/facts.ts';
import { UsageError } from '../text/usage-error.ts';
import { spelled } from '../text/vocabulary.ts';

/** A question about a cluster as it would be: at another time, with other taints, by other policies. */
export interface Question {
  /** Milliseconds from now to the moment that is meant; 0: now. */
  readonly after: Millis;
  /** Taints that the nodes are assumed to have; parseTaint of @taintmgr/core reads them. */
  readonly with: readonly Taint[];
  /** Taints that they are assumed not to have; parsePattern reads them. */
  readonly without: readonly TaintPattern[];
  /** True if kube-controller-manager is asked as well. */
  readonly compare: boolean;
  /** Policies as if taintmgr-controller were given them; readManifest reads them. */
  readonly policies: readonly PolicyObject[];
  /**
   * Finds places for the replacements of pods that assumed taints evict; left out: places are not
   * looked for.
   */
  readonly findRoom?: FindRoom;
}

/** A cluster as it would be, and the pods that leave it. */
export interface RoomQuestion {
  /** All nodes as the API server has them, with the taints that are assumed. */
  readonly nodes: readonly object[];
  /** All pods as the API server has them. */
  readonly pods: readonly object[];
  /** The uids of the pods that leave and are replaced, the first to go first. */
  readonly leaving: readonly string[];
}

/** The place of one replacement. */
export interface Replacement {
  /** The uid of the pod that leaves. */
  readonly uid: string;
  /** Null: no node takes it. */
  readonly node: string | null;
  /** Why no node takes it, in kube-scheduler's words; null: one does. */
  readonly why: string | null;
  /** The aspect that was not looked at; null: none. */
  readonly ignores: 'volumes' | 'devices' | null;
}

/** Finds places one after the other: each replacement takes room from the next. */
export type FindRoom = (question: RoomQuestion) => Promise<readonly Replacement[]>;

/** Names taints; null matches everything. */
export interface TaintPattern {
  /** The key of the taint. */
  readonly key: string;
  /** The value; null: any. */
  readonly value: string | null;
  /** The effect; null: any. */
  readonly effect: string | null;
}

/** The flags that ask what if. */
export interface QuestionFlags {
  /** `--at`: a duration from now, or a time. */
  readonly at?: string | undefined;
  /** `--with-taint`: taints in the notation of `kubectl taint`. */
  readonly withTaint?: readonly string[] | undefined;
  /** `--without-taint`: patterns of taints. */
  readonly withoutTaint?: readonly string[] | undefined;
  /** `--compare`: a member of `comparable`. */
  readonly compare?: string | undefined;
}

/** The programs that can be compared; the last with its version. */
export const comparable = ['kube-controller-manager', 'kube-controller-manager-1.36'] as const;

/** The question about things as they are now. */
export const present: Question = { after: 0, with: [], without: [], compare: false, policies: [] };

/** Reads the flags. Throws UsageError and RangeError naming the flag or the taint. */
export function readQuestion(flags: QuestionFlags): Question {
  const { at, withTaint = [], withoutTaint = [], compare } = flags;
  if (compare !== undefined && !spelled(compare, comparable)) {
    throw new UsageError(
      `--compare: got ${JSON.stringify(compare)}, want ${comparable.join(' or ')}`,
    );
  }
  return {
    after: at === undefined ? 0 : readAfter(at),
    with: withTaint.map(readTaint),
    without: withoutTaint.map(parsePattern),
    compare: compare !== undefined,
    policies: [],
  };
}

/** True when a situation other than the present is asked about. */
export function isWhatIf({ with: added, without }: Question): boolean {
  return added.length + without.length > 0;
}

/** True when the pods of a node are asked about. */
export function mattersIn(question: Question, now: Instant): (facts: NodeFacts) => boolean {
  return (facts) => isWhatIf(question) || losesPods(facts, now);
}

/** The taints of a node with those of the question on it and off it. */
export function hypotheticalTaints(
  taints: readonly Taint[],
  question: Question,
  now: number,
): readonly Taint[] {
  const left = taints.filter(
    (taint) => !question.without.some((pattern) => matchesTaint(pattern, taint)),
  );
  return question.with.reduce<readonly Taint[]>((all, added) => withTaint(all, added, now), left);
}

/** With a taint put on now; one of the same key and effect gives way, as in `kubectl taint`. */
function withTaint(taints: readonly Taint[], added: Taint, now: number): readonly Taint[] {
  const isThere = taints.some(
    ({ key, value, effect }) =>
      key === added.key && value === added.value && effect === added.effect,
  );
  if (isThere) return taints;
  const others = taints.filter(({ key, effect }) => key !== added.key || effect !== added.effect);
  return [...others, { ...added, timeAdded: now }];
}

/** True when a pattern matches the taint. */
export function matchesTaint(pattern: TaintPattern, { key, value, effect }: Taint): boolean {
  return (
    pattern.key === key &&
    (pattern.value === null || pattern.value === value) &&
    (pattern.effect === null || pattern.effect === effect)
  );
}

/** Reads `key`, `key=value`, `key:effect` or `key=value:effect`. Throws RangeError and UsageError. */
export function parsePattern(text: string): TaintPattern {
  const [name = '', effect = null] = text.split(':');
  const { key, value } = effect === null ? readKeyAndValue(text) : parseTaint(text);
  return { key, value: name.includes('=') ? value : null, effect };
}

function readAfter(text: string): Millis {
  const after = parseDuration(text.replace(/^\+/, ''));
  if (after !== null) return after;
  throw new UsageError(`--at: got ${JSON.stringify(text)}, want a time from now such as +10m`);
}

/**
 * Reads `key=value:effect`; without an effect it is NoExecute, as no other makes pods leave. Throws UsageError and
 * RangeError.
 */
function readTaint(text: string): Taint {
  if (text.includes(':')) return parseTaint(text);
  return { ...readKeyAndValue(text), effect: 'NoExecute', timeAdded: null };
}

/** Reads `key` or `key=value`. Throws UsageError. */
export function readKeyAndValue(text: string): Pick<Taint, 'key' | 'value'> {
  // Taints without an effect have no separate grammar: they are read with an effect, which is
  // forgotten.
  const whole = `${text}:NoSchedule`;
  try {
    return parseTaint(whole);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(error.message.replace(whole, () => text));
  }
}

/** The node as it would be with the taints that are assumed to be there, or not to be. */
export function hypotheticalNode(
  node: NodeFacts['node'],
  question: Question,
  now: Instant,
): NodeFacts['node'] {
  return { ...node, taints: hypotheticalTaints(node.taints, question, now) };
}
