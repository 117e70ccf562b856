// The observations of the pod and the Node of a probe, and the conclusions from them.
import { foreignTaintManager } from '@taintmgr/core/shadow';
import type { Millis } from '@taintmgr/core/time';
import { type Duty, declarationText, declaringFlag, type Evidence } from '@taintmgr/k8s-adapter';
import type { Leftover } from '../../../cluster/scratch.ts';
import { type Finding, findingsOf } from '../finding.ts';

/** The names of a probe's objects. */
export interface Places {
  readonly node: string;
  readonly namespace: string;
}

/** All observations up to now; an observation stays. */
export interface Sight {
  /** The reason and the writer of the condition DisruptionTarget of the pod; null: it has none. */
  readonly mark: { readonly reason: string; readonly manager: string | null } | null;
  /** The controllers that say in an Event that the pod is evicted for a taint. */
  readonly speakers: readonly string[];
  /** The age of the pod when it was first seen marked, terminating or gone; null: it is unchanged. */
  readonly movedAfter: Millis | null;
  readonly isGone: boolean;
  /** The Node, as it was last seen. */
  readonly node: 'tainted' | 'untainted' | 'gone';
  /** The other writer of the Node's taints; null: none. */
  readonly nodeWriter: string | null;
  /** kube-controller-manager has given the namespace its ServiceAccount. */
  readonly isManagerAlive: boolean;
}

export const emptySight: Sight = {
  ...{ mark: null, speakers: [], movedAfter: null, isGone: false },
  ...{ node: 'tainted', nodeWriter: null, isManagerAlive: false },
};

/** The conclusions of a probe; null: none. */
export interface ProbeAnswer {
  /** kube-controller-manager evicts for NoExecute taints. */
  readonly evicts: boolean | null;
  /** kube-controller-manager runs the node-lifecycle-controller. */
  readonly watchesNodes: boolean | null;
  /** The observations, or the reason why they prove nothing. */
  readonly text: string;
}

const upstream = 'kube-controller-manager';
const ours = ['taintmgr-controller', 'kubectl-taintmgr'];
/** As it is called since 1.29, and before. */
const upstreamSpeakers = ['taint-eviction-controller', 'taint-controller'];

/** True where more looks cannot change the answer. */
export function isDecided(sight: Sight): boolean {
  return managerOf(sight) !== null && watchesNodes(sight, false) !== null;
}

/** True after an event that an explanation may follow; kube-controller-manager comes after ours too. */
export function isSettling(sight: Sight): boolean {
  const { movedAfter, isGone, node } = sight;
  return isGone || node !== 'tainted' || (movedAfter !== null && !isByOurs(sight));
}

/** The program other than ours that evicts for taints; null: none was seen. */
export function managerOf({ mark, speakers }: Sight): string | null {
  const marked = foreignTaintManager(mark ?? undefined);
  if (marked !== null) return marked;
  return speakers.some((one) => upstreamSpeakers.includes(one)) ? upstream : null;
}

/** The answer after this time of waiting. */
export function answerOf(sight: Sight, waited: Millis): ProbeAnswer {
  const manager = managerOf(sight);
  const nodes = watchesNodes(sight, true);
  if (manager !== null) {
    const who = manager === upstream ? upstream : `${upstream} (its program is called ${manager})`;
    const text = `${who} evicted the pod of the probe for its NoExecute taint ${soon(sight.movedAfter ?? waited)}`;
    return { evicts: true, watchesNodes: nodes, text };
  }
  const doubt = doubtIn(sight);
  if (doubt !== null) {
    const text = `whether ${upstream} evicts for NoExecute taints is unknown: ${doubt}`;
    return { evicts: null, watchesNodes: nodes, text };
  }
  const who = isByOurs(sight)
    ? `taintmgr-controller evicted the pod of the probe for its NoExecute taint, and ${upstream} did not`
    : 'no controller evicted the probe pod for its NoExecute taint';
  const text = `${who} within ${seconds(waited)}, while ${upstream} ran and gave its namespace a ServiceAccount`;
  return { evicts: false, watchesNodes: nodes, text };
}

/** The reason why a missing eviction by kube-controller-manager proves nothing; null: it does prove that. */
function doubtIn(sight: Sight): string | null {
  const { mark, isGone, movedAfter, node, isManagerAlive } = sight;
  const isOurs = isByOurs(sight);
  if (mark?.reason === 'DeletionByPodGC') return 'the pod was taken by pod garbage collection';
  if (node === 'gone') {
    return 'another client deleted the Node of the probe, as a cloud controller does with a Node that has no machine';
  }
  if (node === 'untainted') return 'another client removed the taint from the Node of the probe';
  if (movedAfter !== null && !isOurs) {
    const what = isGone ? 'is gone' : 'is terminating';
    return mark === null
      ? `the pod ${what}, and nothing says who deleted it`
      : `the pod ${what} with the reason ${mark.reason} by ${mark.manager ?? 'an unknown client'}`;
  }
  // kube-controller-manager did not have the chance.
  if (isOurs && isGone) return 'taintmgr-controller has evicted the pod, and it was gone at once';
  if (isManagerAlive) return null;
  return `no ${upstream} has given the Namespace of the probe a ServiceAccount: none runs at present, and one that starts may evict`;
}

/**
 * True where taintmgr has evicted the pod: by a mark, or by an Event, as the Eviction API has no special
 * mark.
 */
function isByOurs({ mark, speakers }: Sight): boolean {
  if (speakers.some((one) => one.startsWith('taintmgr'))) return true;
  return mark?.reason === 'DeletionByTaintManager' && ours.includes(mark.manager ?? '');
}

/** A Node that is unschedulable gets a taint for that at once, by the controller that watches Nodes. */
function watchesNodes({ nodeWriter, isManagerAlive }: Sight, isOver: boolean): boolean | null {
  if (nodeWriter !== null) return ours.includes(nodeWriter) ? null : true;
  return isOver && isManagerAlive ? false : null;
}

/** The declaration that a probe supports; null: the probe has not proved all parts of it. */
function declarationOf({ evicts, watchesNodes }: ProbeAnswer): string | null {
  if (evicts === null || watchesNodes === null) return null;
  const runs: readonly (readonly [Duty, boolean])[] = [
    ['taint-eviction-controller', evicts],
    ['node-lifecycle-controller', watchesNodes],
  ];
  return declarationText(runs.filter(([, does]) => does).map(([duty]) => duty));
}

function soon(millis: Millis): string {
  return millis < 1_000 ? 'at once' : `after ${seconds(millis)}`;
}

function seconds(millis: Millis): string {
  return `${Number((millis / 1000).toFixed(1))}s`;
}

/** The result of a probe. */
export interface ProbeResult {
  readonly answer: ProbeAnswer;
  /** Of its end, on the monotonic clock. */
  readonly endedAt: Millis;
  /** The objects that could not be removed. */
  readonly left: readonly Leftover[];
}

/** The same as evidence for who asks at this time, on the monotonic clock. */
export function evidenceOf({ answer, endedAt }: ProbeResult): readonly Evidence[] {
  const age = performance.now() - endedAt;
  return answer.evicts === null ? [] : [{ kind: 'probe', evicted: answer.evicts, age }];
}

export function probeFindings({ answer, left }: ProbeResult): readonly Finding[] {
  const finding = findingsOf('probe');
  const leftovers = left.map(({ why, command }) =>
    finding('WARN', `something of a probe is left: ${why}`, { fix: command }),
  );
  return [finding(...wordsOf(answer)), ...leftovers];
}

function wordsOf(answer: ProbeAnswer): Parameters<ReturnType<typeof findingsOf>> {
  const { evicts, watchesNodes, text } = answer;
  if (evicts === null) return ['WARN', text];
  const nodes =
    watchesNodes === null
      ? 'whether it watches over Nodes is not known'
      : `it ${watchesNodes ? 'watches' : 'does not watch'} over Nodes`;
  const declared = declarationOf(answer);
  const flag = `--${declaringFlag}`;
  const fix =
    declared === null
      ? `declare what it runs to taintmgr-controller, with ${flag}`
      : `declare it to taintmgr-controller: ${flag}=${declared}`;
  return [evicts ? 'INFO' : 'OK', `${text}; ${nodes}`, { fix }];
}

/** The result in `-o json`. */
export function probeDocument({ answer }: ProbeResult): object {
  const { evicts, watchesNodes, text } = answer;
  const runs = {
    'taint-eviction-controller': statusOf(evicts),
    'node-lifecycle-controller': statusOf(watchesNodes),
  };
  return { probe: { runs, declare: declarationOf(answer) ?? 'unknown', message: text } };
}

function statusOf(does: boolean | null): string {
  if (does === null) return 'Unknown';
  return does ? 'True' : 'False';
}
