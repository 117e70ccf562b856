// Reads what kube-scheduler 1.36.2 did and compares what the scheduler of the cluster does.
import { conditionOf } from '../../src/controllers/pods.ts';
import { equal } from '../../src/objects/json.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { PlayedCase, type SchedulingCase } from './scheduling-case.ts';

interface Condition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Outcome {
  readonly result: 'bound' | 'bypassed' | 'unschedulable' | 'gated';
  readonly feasible?: readonly string[];
  readonly best?: readonly string[];
  /** Of a filter case. */
  readonly chosen?: Readonly<Record<string, number>>;
  readonly volume?: Readonly<Record<string, string>>;
  /** Of a preemption case. */
  readonly node?: string;
  readonly message?: string;
  readonly condition?: Condition;
  readonly nominatedNodeName?: string;
  readonly victims?: readonly {
    readonly pod: string;
    readonly node: string;
    readonly deleted: string;
    readonly condition: object;
    readonly event: string;
  }[];
  readonly afterVictimsAreGone?: { readonly result: string; readonly node?: string };
  readonly earlier?: {
    readonly node: string;
    readonly nominatedNodeName: string;
  };
}

interface Recorded extends SchedulingCase {
  readonly expected: Outcome & { readonly outcomes?: readonly Outcome[] };
}

/** Each case is played once; what is drawn depends on it. */
const seed = 1;

/** What differs in a recorded case, or null. */
export function checkScheduling(line: string): string | null {
  const recorded: Recorded = JSON.parse(line);
  const { expected } = recorded;
  const outcomes = expected.outcomes ?? [expected];
  const differences = outcomes.map((outcome) => differenceFrom(recorded, outcome));
  return differences.includes(null) ? null : `${recorded.id}: ${differences.join('; or ')}`;
}

function differenceFrom(recorded: Recorded, outcome: Outcome): string | null {
  const played = new PlayedCase(recorded, seed);
  played.play();
  const pod = played.find(recorded.pod);
  if (!pod) return 'the pod is gone';
  const found = [
    ...(outcome.result === 'unschedulable' ? comparePending(played, pod, outcome) : []),
    ...(outcome.result === 'gated' ? compareGated(played, pod, outcome) : []),
    ...(outcome.result === 'bound' || outcome.result === 'bypassed'
      ? compareBound(played, pod, outcome)
      : []),
    ...compareEarlier(played, recorded, outcome),
    ...compareVictims(played, pod, outcome),
    ...compareLater(played, recorded, outcome),
  ];
  return found.length === 0 ? null : found.join(', ');
}

function differs(what: string, expected: unknown, got: unknown): readonly string[] {
  if (equal(expected, got)) return [];
  return [`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`];
}

function compareBound(played: PlayedCase, pod: KubeObject, outcome: Outcome): readonly string[] {
  const { chosen = {}, best, feasible, node, volume } = outcome;
  const allowed = best ?? (node === undefined ? (feasible ?? Object.keys(chosen)) : [node]);
  const nodeName: string = pod.spec.nodeName ?? '';
  if (outcome.result === 'bypassed') return [];
  if (!allowed.includes(nodeName)) {
    const why = conditionOf(pod, 'PodScheduled')?.message ?? '';
    return [`node: expected ${allowed.join(' or ')}, got ${nodeName || why}`];
  }
  const wanted = volume?.[nodeName];
  if (wanted === undefined) return [];
  return played.volumesOf(pod).includes(wanted)
    ? []
    : differs('volume', wanted, played.volumesOf(pod));
}

function comparePending(played: PlayedCase, pod: KubeObject, outcome: Outcome): readonly string[] {
  const { reason, message, status } = conditionOf(pod, 'PodScheduled') ?? {};
  return [
    ...differs('node', undefined, pod.spec.nodeName),
    ...differs('condition', pick(outcome.condition), { reason, message, status }),
    ...differs('event', [outcome.message], played.eventsOf('FailedScheduling', pod)),
    ...differs('nominated', outcome.nominatedNodeName, pod.status?.nominatedNodeName ?? ''),
  ];
}

function compareGated(played: PlayedCase, pod: KubeObject, outcome: Outcome): readonly string[] {
  const { reason, message, status } = conditionOf(pod, 'PodScheduled') ?? {};
  return [
    ...differs('condition', pick(outcome.condition), { reason, message, status }),
    ...differs('events', [], played.eventsOf('FailedScheduling', pod)),
  ];
}

function pick(condition: Condition | undefined): object {
  const { reason, message, status } = condition ?? {};
  return { reason, message, status };
}

function compareEarlier(
  played: PlayedCase,
  { earlier }: Recorded,
  { earlier: expected }: Outcome,
): readonly string[] {
  const pod = earlier && played.find(earlier);
  if (!pod || !expected) return [];
  return [
    ...differs('node of the earlier pod', expected.node, pod.spec.nodeName ?? ''),
    ...differs(
      'nomination of the earlier pod',
      expected.nominatedNodeName,
      pod.status?.nominatedNodeName ?? '',
    ),
  ];
}

function compareVictims(
  played: PlayedCase,
  pod: KubeObject,
  { victims }: Outcome,
): readonly string[] {
  if (!victims) return [];
  const byPod = (one: { readonly pod: string }, other: { readonly pod: string }): number =>
    one.pod < other.pod ? -1 : 1;
  const got = played.victims().map(({ condition, ...victim }) => {
    const [namespace = '', name = ''] = victim.pod.split('/');
    const { type, status, reason, message } = conditionIn(condition);
    const said = { type, status, reason, message };
    const [event = ''] = played.eventsOf('Preempted', { metadata: { namespace, name } });
    return { ...victim, condition: said, event };
  });
  const name = pod.metadata.name;
  return differs(`victims of ${name}`, [...victims].sort(byPod), got.sort(byPod));
}

function conditionIn(condition: object | undefined): Condition & { readonly type: string } {
  return { type: '', status: '', reason: '', message: '', ...condition };
}

function compareLater(
  played: PlayedCase,
  { pod }: Recorded,
  { afterVictimsAreGone: later }: Outcome,
): readonly string[] {
  if (!later) return [];
  played.removeVictims();
  const nodeName = played.find(pod)?.spec.nodeName;
  return differs('node after the victims', later.node, nodeName);
}
