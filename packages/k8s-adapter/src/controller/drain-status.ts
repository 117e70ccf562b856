// The status of a NodeDrain, as the leader writes it.
import type { NodeDrainState } from '@taintmgr/core/drain';
import { formatDeadline, formatTime, type Instant } from '@taintmgr/core/time';
import type { StatusOf } from '../kinds/kinds.ts';
import { onOneLine } from '../proto/event-requests.ts';
import type { StatedCondition } from './status-conditions.ts';

type DrainStatus = Omit<StatusOf['NodeDrain'], 'observedGeneration' | 'conditions'>;

const nodesMax = 1000;
const podsMax = 100;
const blockersMax = 32;
const volumeWaitsMax = 100;
const notReplacedMax = 500;
const othersMax = 100;
const daemonSetsMax = 100;

export function drainStatus(state: NodeDrainState): DrainStatus {
  const { phase, nodes, podsGone, podsLeft, pods, blockers, volumeWaits, notReplaced } = state;
  const { daemonSetsKeptOff: keptOff } = state;
  const all = podsGone + podsLeft;
  return {
    phase,
    ...(state.wave !== '' && { wave: state.wave }),
    ...(state.selector !== null && { observedSelector: state.selector }),
    ...timeIn('startedAt', state.startedAt),
    ...timeIn('endedAt', state.endedAt),
    nodes: nodes.length,
    nodesDrained: nodes.filter((node) => node.phase === 'Drained').length,
    podsGone,
    podsLeft,
    podsStaying: state.podsStaying,
    ...(keptOff.length > 0 && { daemonSetsKeptOff: keptOff.slice(0, daemonSetsMax) }),
    ...(all > 0 && { progress: `${Math.floor((100 * podsGone) / all)}%` }),
    ...(state.expectedEnd !== null && { expectedEnd: formatDeadline(state.expectedEnd) }),
    nodeStates: listed(nodes).map((node) => ({
      ...{ name: node.name, phase: node.phase },
      ...{ podsGone: node.podsGone, podsLeft: node.podsLeft },
      ...timeIn('startedAt', node.startedAt),
      ...timeIn('waitsSince', node.waitsSince),
      ...timeIn('endedAt', node.endedAt),
      ...(node.reason !== '' && { reason: node.reason }),
      ...(node.message !== '' && { message: onOneLine(node.message) }),
    })),
    pods: pods.slice(0, podsMax).map(({ node, pod, uid, state: how, blocker, hold }) => ({
      ...{ node, pod, uid, state: how },
      ...(hold !== '' && { message: onOneLine(hold) }),
      ...(blocker && { verdict: blocker.verdict, message: onOneLine(blocker.message) }),
    })),
    ...(volumeWaits.length > 0 && {
      volumeWaits: volumeWaits.slice(0, volumeWaitsMax).map(({ statefulSet, since }) => {
        return { statefulSet, since: formatTime(since) };
      }),
    }),
    ...(notReplaced.length > 0 && {
      notReplaced: notReplaced.slice(-notReplacedMax).map(({ workload, uid, since, others }) => ({
        ...{ workload, uid, since: formatTime(since) },
        ...(others.length > 0 && { others: others.slice(-othersMax) }),
      })),
    }),
    blockers: blockers.slice(0, blockersMax).map(onOneLine),
  };
}

/** The next leader's needs come first: no node begins while there are more than can be listed. */
function listed(nodes: NodeDrainState['nodes']): NodeDrainState['nodes'] {
  if (nodes.length <= nodesMax) return nodes;
  return nodes.toSorted((a, b) => rank(a) - rank(b)).slice(0, nodesMax);
}

function rank({ phase }: NodeDrainState['nodes'][number]): number {
  if (phase === 'Gone') return 2;
  return phase === 'Pending' || phase === 'Held' ? 1 : 0;
}

/** `kubectl wait --for=condition=Drained` waits for the first. */
export function drainConditions(state: NodeDrainState): readonly StatedCondition[] {
  const { phase, blockers, podsStaying, staying, fallback } = state;
  const fallbacks = fallback === '' ? [] : [fallback];
  if (phase === 'Drained' && podsStaying > 0) {
    // A program that waits for this ends the machine next, and its pods with it.
    const message = onOneLine(['every node is drained', staying, ...fallbacks].join('; '));
    return [{ type: 'Drained', status: 'False', reason: 'PodsStay', message }];
  }
  const isDrained = phase === 'Drained';
  const [first] = blockers;
  const goesOn = [first ?? 'the drain continues', ...(staying === '' ? [] : [staying])].join('; ');
  const ended = ['every node is drained', ...fallbacks].join('; ');
  const message = onOneLine(isDrained ? ended : goesOn);
  return [{ type: 'Drained', status: isDrained ? 'True' : 'False', reason: phase, message }];
}

function timeIn<K extends string>(key: K, at: Instant | null): { readonly [key in K]?: string } {
  if (at === null) return {};
  const time: { [key in K]?: string } = {};
  time[key] = formatTime(at);
  return time;
}
