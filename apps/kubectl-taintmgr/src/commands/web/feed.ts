// The moments of the cluster that the live page shows, each from one survey.
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Decision,
  describeReason,
  formatTaint,
  type Reason,
  webhookDenial,
} from '@taintmgr/core';
import type { PredictedBlocker } from '@taintmgr/core/drain';
import { describeHold } from '@taintmgr/core/lifecycle';
import { resumeCommand } from '@taintmgr/core/policy';
import { formatDuration, parseTime } from '@taintmgr/core/time';
import { type ApiClient, ApiError, ConnectionError, EvictorSearch } from '@taintmgr/k8s-adapter';
import { count, listText, printable } from '@taintmgr/k8s-adapter/command-line';
import {
  blockerLine,
  blockerOf,
  Explainer,
  evictorText,
  isUnknown,
  limitLine,
  type NodeReport,
  notesOn,
  type PodReport,
  pausedText,
  pausesInForce,
  phaseOf,
  present,
  type Report,
  reportOn,
  stayingOf,
  surveyPending,
  zoneOf,
  zonesIn,
} from '@taintmgr/k8s-adapter/explain';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import {
  ClusterReader,
  type ForecastSurvey,
  listNodeDrains,
  type NodeDrainObject,
  type NodeFacts,
  runningDrains,
} from '@taintmgr/k8s-adapter/survey';
import type {
  LeftOut,
  LiveAction,
  LiveHistory,
  LiveHold,
  LiveMoment,
  LivePod,
  LiveZone,
} from '@taintmgr/page';
import { selectorText } from '../../report/devices.ts';
import type { Streams } from './server.ts';

const readEveryMs = 2000;
/** Nobody looks: only the history goes on. */
const unseenEveryMs = 10_000;
/** The API server works for us a fifth of the time at most, however large the cluster is. */
const restPerRead = 4;

/** What reads a cluster for the page. */
interface Feed {
  /** Reads once; throws what reading throws. */
  read(): Promise<void>;
  /** What was read last; null: nothing yet. */
  look(): Look | null;
  /** Goes on until `interrupt`; what cannot be read is told on the page, and tried again. */
  follow(interrupt: AbortSignal): Promise<void>;
}

export function feedOf(
  client: ApiClient,
  { history, streams }: { readonly history: LiveHistory; readonly streams: Streams },
  files: readonly PolicyObject[],
): Feed {
  const search = new EvictorSearch(client);
  // It remembers since when a taint is there that does not say so itself.
  const explainer = new Explainer({ ...present, policies: files });
  let look: Look | null = null;
  const publish = (): void => {
    const input = history.input();
    if (input) streams.publish(input);
  };
  const read = async (): Promise<void> => {
    const reader = new ClusterReader(client, undefined, search);
    const [nodes, nodeDrains] = await Promise.all([reader.nodes(), listNodeDrains(client)]);
    const survey = await surveyPending(reader, nodes, { files });
    explainer.take(survey);
    look = { nodes, survey, report: reportOn(survey, explainer), nodeDrains };
    const { moment, leftOut } = shownOf(look);
    history.take(moment, leftOut);
    publish();
  };
  return {
    read,
    look: () => look,
    async follow(interrupt) {
      let restMs = readEveryMs;
      while (!interrupt.aborted) {
        const isOver = await rest(restMs, interrupt);
        if (isOver) return;
        const begun = performance.now();
        try {
          await read();
        } catch (error) {
          if (interrupt.aborted) return;
          if (!(error instanceof ConnectionError || error instanceof ApiError)) throw error;
          history.lose(Date.now(), printable(error.message));
          publish();
        }
        const least = streams.viewers > 0 ? readEveryMs : unseenEveryMs;
        restMs = Math.max(least, (performance.now() - begun) * restPerRead);
      }
    },
  };
}

/** Whether it was cut short by `interrupt`. */
async function rest(millis: number, interrupt: AbortSignal): Promise<boolean> {
  try {
    await wait(millis, undefined, { signal: interrupt });
    return false;
  } catch (error) {
    if (interrupt.aborted) return true;
    throw error;
  }
}

/** So many pods are shown one by one, the next first. */
const podsMax = 2000;

/** All that was read for one look. */
interface Look {
  readonly nodes: readonly NodeFacts[];
  readonly survey: ForecastSurvey;
  readonly report: Report;
  readonly nodeDrains: readonly NodeDrainObject[];
}

/** What the page is told, and the pods for which it has no room. */
interface Shown {
  readonly moment: LiveMoment;
  readonly leftOut: LeftOut;
}

function shownOf(look: Look): Shown {
  const { at } = look.survey;
  const all = look.report.nodes.flatMap(({ pods }) =>
    (pods ?? []).flatMap((pod) => podOf(pod, at)),
  );
  const sorted = all.length > podsMax ? all.sort(byDue) : all;
  const rest = new Map(sorted.slice(podsMax).map((pod) => [pod.uid, pod] as const));
  const moment = momentOf(look, sorted.slice(0, podsMax), rest.size);
  return { moment, leftOut: ({ uid }) => rest.get(uid) ?? null };
}

function momentOf(
  { nodes, survey, report, nodeDrains }: Look,
  pods: readonly LivePod[],
  podsLeftOut: number,
): LiveMoment {
  const { at, evictor } = survey;
  const { warnings, notes } = notesOn(survey, report, present);
  return {
    at,
    evictedBy: printable(evictorText(evictor)),
    ...{ warnings, notes },
    zones: zonesIn(survey, nodes, report.nodes).map((zone) => {
      return { ...zone, held: heldZone(zone.name, survey, report.nodes) };
    }),
    nodes: nodes.map((facts) => {
      const { node, ready, cordoned } = facts;
      const taints = node.taints.map(formatTaint);
      return { name: node.name, zone: zoneOf(facts), ready: ready.status, cordoned, taints };
    }),
    ...{ pods, podsLeftOut },
    actions: [
      ...pausesOf(survey),
      ...limitsOf(survey),
      ...drainsOf(nodeDrains, nodes),
      ...rulesOf(survey, report),
    ],
  };
}

function byDue(one: LivePod, other: LivePod): number {
  return (one.dueAt ?? Number.MAX_VALUE) - (other.dueAt ?? Number.MAX_VALUE);
}

/** A pod that is to leave, on its way out, or of which nobody can tell; nothing of those that stay. */
function podOf(report: PodReport, at: number): readonly LivePod[] {
  const { facts, explanation, evictor, isEstimate } = report;
  const { decision } = explanation;
  const { pod } = facts;
  const isGoing = pod.deletionTimestamp !== null;
  const isHidden = isUnknown(report);
  if (decision.kind === 'keep' && !isGoing && !isHidden) return [];
  const [first] = decision.because;
  const start = first ? startOf(first) : null;
  const dueAt = decision.kind === 'evict' && !isGoing ? decision.deadline : null;
  return [
    {
      uid: pod.uid,
      namespace: pod.namespace,
      pod: pod.name,
      node: pod.nodeName,
      workload: pod.owner ? `${pod.owner.kind} ${pod.namespace}/${pod.owner.name}` : null,
      state: isGoing ? 'terminating' : isHidden ? 'unknown' : stateOf(decision.kind),
      setAt: start === null || start > at ? null : start,
      dueAt: dueAt !== null && Number.isFinite(dueAt) ? dueAt : null,
      remainingSeconds: decision.kind === 'pause' ? decision.remaining / 1000 : null,
      isEstimate,
      evictor,
      because: decision.because.map(describeReason).map(printable),
      holds: holdsOf(report, at),
    },
  ];
}

function stateOf(kind: Decision['kind']): LivePod['state'] {
  return kind === 'pause' ? 'paused' : 'waits';
}

/** Since when its time counts; of one that terminates, when it should have ended. */
function startOf(reason: Reason): number | null {
  if (reason.code === 'Terminating') return reason.since;
  return 'start' in reason ? reason.start : null;
}

function holdsOf({ explanation, limit, blockers }: PodReport, at: number): readonly LiveHold[] {
  const [first] = explanation.decision.because;
  const pause =
    explanation.decision.kind === 'pause' && first?.code === 'Paused'
      ? [{ kind: 'pause', name: first.pause, text: describeReason(first) }]
      : [];
  const limits = limit ? [{ kind: 'limit', name: limit.id, text: limitLine(limit, at) }] : [];
  return [...pause, ...limits, ...blockers.map(blockerHold)].map(({ kind, name, text }) => {
    return { kind, name: printable(name), text: printable(text) };
  });
}

const blockerKinds = {
  Budget: 'PDB',
  TwoBudgets: 'PDBs',
  Intercepted: 'webhook',
  Finalizers: 'finalizers',
  NodeLost: 'node unreachable',
  LastReplica: 'last replica',
} as const;

function blockerHold(blocker: PredictedBlocker): LiveHold {
  const budgets = listText(blocker.budgets.map((budget) => budget.name));
  const name = budgets || (webhookDenial(blocker.message)?.webhook ?? '');
  return { kind: blockerKinds[blocker.code], name, text: blockerLine(blocker) };
}

/** Why no node of a zone is tainted; null: they are. */
function heldZone(
  name: string,
  { evictor }: ForecastSurvey,
  reports: readonly NodeReport[],
): LiveZone['held'] {
  const holds = reports.flatMap(({ facts, forecast }) => {
    return zoneOf(facts) === name && forecast?.zone?.hold ? [forecast.zone.hold] : [];
  });
  if (holds[0]) return describeHold(holds[0]);
  const isHeld = evictor.heldZones?.some((zone) => zone.name === name) ?? false;
  return isHeld ? 'it is down as a whole: its pods stay until one of its nodes is ready' : null;
}

function pausesOf({ policies, at }: ForecastSurvey): readonly LiveAction[] {
  return pausesInForce(policies.objects, at).map((pause): LiveAction => {
    const { name, uid, since, until, reason } = pause;
    const why = reason === '' ? '' : `: ${reason}`;
    const text = printable(`holds ${pausedText(pause)}${why}`);
    return { kind: 'pause', name: printable(name), from: uid === '' ? null : since, until, text };
  });
}

function limitsOf({ limits }: ForecastSurvey): readonly LiveAction[] {
  const tripped = (limits?.tripped ?? []).map(({ id, since }): LiveAction => {
    const text = `has tripped: its pods wait until somebody runs: ${resumeCommand(id)}`;
    return { kind: 'limit', name: id, from: since, until: null, text };
  });
  const counting = (limits?.counting ?? []).map(({ id, evicted, of, windowMs, roomAt }) => {
    const share = `${evicted}${of === null ? '' : ` of ${of}`}`;
    const text = `${share} pods evicted within ${formatDuration(windowMs)}`;
    return { kind: 'limit', name: id, from: roomAt - windowMs, until: roomAt, text } as const;
  });
  return [...tripped, ...counting].map((one) => {
    return { ...one, name: printable(one.name), text: printable(one.text) };
  });
}

/** The DeviceTaintRules for which a pod is to leave. */
function rulesOf({ devices }: ForecastSurvey, { nodes }: Report): readonly LiveAction[] {
  const pods = nodes
    .flatMap((node) => node.pods ?? [])
    .filter(({ facts, explanation }) => {
      return facts.pod.deletionTimestamp === null && explanation.decision.kind === 'evict';
    });
  return [...(devices?.rules() ?? [])].flatMap(
    ({ name, taint, selector }): readonly LiveAction[] => {
      const going = pods.filter(({ devices: verdict }) => {
        return (
          verdict?.at != null &&
          verdict.causes.some(({ source }) => {
            return source.kind === 'rule' && source.name === name;
          })
        );
      });
      if (going.length === 0) return [];
      const text = `taints ${selectorText({ selector })} ${formatTaint(taint)}: ${count(going.length, 'pod')} to leave`;
      const from = taint.timeAdded;
      return [{ kind: 'rule', name: printable(name), from, until: null, text: printable(text) }];
    },
  );
}

function drainsOf(
  objects: readonly NodeDrainObject[],
  nodes: readonly NodeFacts[],
): readonly LiveAction[] {
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const marked = runningDrains(nodes).filter(({ id }) => !names.has(id));
  const byId = new Map<string, string[]>();
  for (const { id, node } of marked) byId.set(id, [...(byId.get(id) ?? []), node]);
  return [
    ...objects.map(objectDrain),
    ...Array.from(byId, ([id, on]): LiveAction => {
      const text = printable(`drain-by-taint evicts the pods of ${on.join(', ')}`);
      return { kind: 'drain', name: printable(id), from: null, until: null, text };
    }),
  ];
}

function objectDrain(drain: NodeDrainObject): LiveAction {
  const { metadata, status = {} } = drain;
  const { nodes = 0, nodesDrained = 0, podsGone = 0, podsLeft = 0 } = status;
  const [blocker, staying] = [blockerOf(drain), stayingOf(drain)];
  const text = [
    phaseOf(drain),
    `${nodesDrained} of ${count(nodes, 'node')} drained`,
    `${podsGone} of ${count(podsGone + podsLeft, 'pod')} gone`,
    ...(blocker === null ? [] : [`blocked by ${blocker}`]),
    ...(staying === null ? [] : [staying]),
  ].join(', ');
  return {
    kind: 'drain',
    name: printable(metadata.name),
    from: parseTime(metadata.creationTimestamp ?? ''),
    until: parseTime(status.expectedEnd ?? ''),
    text: printable(text),
  };
}
