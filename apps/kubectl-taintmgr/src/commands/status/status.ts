import { drainStaleMs, type EvictionRequest } from '@taintmgr/core/drain';
import type { EvictionPause } from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { type DutyVerdict, type Evictors, verdictText } from '@taintmgr/k8s-adapter';
import type { ClockEvent } from '../../cluster/clock-events.ts';
import {
  drainsOn,
  type MarkedDrain,
  type RunningDrain,
  runningDrains,
} from '../../cluster/drain-marks.ts';
import { type Evictor, upstreamVerdict } from '../../cluster/evictors.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import type { TrippedLimit } from '../../cluster/limits.ts';
import type { NodeDrainObject } from '../../cluster/node-drains.ts';
import { isFresh, type TaintManager } from '../../cluster/taint-managers.ts';
import { apiVersion, evictorDocument } from '../../report/documents.ts';
import { requestDocument } from '../../report/eviction-requests.ts';
import { trippedDocument } from '../../report/limits.ts';
import type { NodeReport } from '../../report/report.ts';
import { asOf } from '../../report/words.ts';
import { type ZoneCounts, zonesIn } from '../../report/zones.ts';
import { nodeDrainDocument } from './node-drains.ts';
import { pauseDocument } from './pauses.ts';

/** How a cluster is doing. */
export interface Status {
  readonly at: Instant;
  readonly evictors: Evictors;
  /** Which of them acts on NoExecute taints. */
  readonly evictor: Evictor;
  readonly zones: readonly ZoneCounts[];
  readonly drains: readonly MarkedDrain[];
  /** Those that controllers carry out. */
  readonly nodeDrains: readonly NodeDrainObject[];
  /** Those that evict the pods of a node, or did when they were last heard of. */
  readonly running: readonly RunningDrain[];
  /** What controllers have said about clocks of late, the latest last. */
  readonly clocks: readonly ClockEvent[];
  /** Limits of the controller that hold evictions until they are resumed. */
  readonly tripped: readonly TrippedLimit[];
  /** Those that hold evictions. */
  readonly pauses: readonly EvictionPause[];
  /** What leaders publish of themselves. */
  readonly managers: readonly TaintManager[];
  /** Those by which somebody is asked to move a pod. */
  readonly requests: readonly EvictionRequest[];
}

/** Counts what was read, zone by zone in the order of their names. */
export function statusOf(
  { at, evictors, evictor }: Pick<Status, 'at' | 'evictors' | 'evictor'>,
  nodes: readonly NodeFacts[],
  reports: readonly NodeReport[],
): Omit<Status, 'tripped' | 'pauses' | 'managers' | 'nodeDrains' | 'requests'> {
  return {
    at,
    evictors,
    evictor,
    zones: zonesIn({ at, evictor }, nodes, reports),
    drains: drainsOn(nodes),
    running: runningDrains(nodes),
    clocks: [],
  };
}

/** The status as a document. */
export function statusDocument(status: Status): object {
  const { at, evictors, evictor, zones, drains, running, clocks } = status;
  const { tripped, pauses, managers, nodeDrains, requests } = status;
  return {
    apiVersion,
    kind: 'Status',
    ...asOf(at, 0),
    ...evictorDocument(evictor),
    controllers: {
      kubeControllerManager: controllerDocument(upstreamVerdict(evictors)),
      taintmgrController: controllerDocument(evictors.taintmgr),
    },
    zones: zones.map(({ next, ...zone }) => {
      return { ...zone, nextSeconds: next === null ? undefined : Math.floor(next / 1000) };
    }),
    drains,
    ...(nodeDrains.length > 0 && { nodeDrains: nodeDrains.map(nodeDrainDocument) }),
    ...(running.length > 0 && { runningDrains: running.map((one) => runningDocument(at, one)) }),
    ...(clocks.length > 0 && {
      clocks: clocks.map(({ at: time, message }) => {
        return { ...(time !== null && { at: formatTime(time) }), message };
      }),
    }),
    ...(managers.length > 0 && { taintManagers: managers.map((one) => managerDocument(at, one)) }),
    ...(tripped.length > 0 && {
      trippedLimits: tripped.map(trippedDocument),
    }),
    ...(pauses.length > 0 && { pauses: pauses.map(pauseDocument) }),
    ...(requests.length > 0 && {
      evictionRequests: requests.map((one) => {
        return { namespace: one.namespace, ...requestDocument(one) };
      }),
    }),
  };
}

function runningDocument(at: Instant, { id, node, by, heartbeat }: RunningDrain): object {
  const isAlive = at - heartbeat < drainStaleMs;
  return { id, node, ...(by !== '' && { by }), heartbeat: formatTime(heartbeat), isAlive };
}

function managerDocument(now: Instant, manager: TaintManager): object {
  const { name, leader, version, startedAt, renewedAt, settings, troubles } = manager;
  return {
    ...{ name, leader, version, settings, troubles },
    leads: isFresh(manager, now),
    ...(startedAt !== null && { startedAt: formatTime(startedAt) }),
    ...(renewedAt !== null && { renewTime: formatTime(renewedAt) }),
  };
}

const truths = { acts: 'True', doesNotAct: 'False', unknown: 'Unknown' } as const;

/** Whether a controller evicts, as conditions say it; who, where that is known; how it is known. */
function controllerDocument(verdict: DutyVerdict): object {
  const who = 'who' in verdict ? verdict.who : null;
  const [lease] = verdict.evidence.filter(({ kind }) => kind === 'lease');
  const renewedAt = lease?.kind === 'lease' ? lease.lease.renewedAt : null;
  return {
    evicts: truths[verdict.kind],
    ...(who !== null && { who }),
    ...(renewedAt !== null && { renewedAt: formatTime(renewedAt) }),
    message: verdictText(verdict),
  };
}
