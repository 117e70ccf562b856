// The moments of the cluster that the live page shows, each from one survey.
import { setTimeout as wait } from 'node:timers/promises';
import { formatTaint, webhookDenial } from '@taintmgr/core';
import type { PredictedBlocker } from '@taintmgr/core/drain';
import { describeHold } from '@taintmgr/core/lifecycle';
import { formatDuration, parseTime } from '@taintmgr/core/time';
import { type ApiClient, EvictorSearch } from '@taintmgr/k8s-adapter';
import { count, listText } from '@taintmgr/k8s-adapter/command-line';
import {
  blockerKinds,
  blockerLine,
  blockerOf,
  decisionName,
  Explainer,
  limitLine,
  type NodeReport,
  notesOn,
  type PodReport,
  pausedText,
  pausesInForce,
  phaseOf,
  podsIn,
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
import {
  type LeftOut,
  type LiveAction,
  type LiveHistory,
  type LiveHold,
  type LiveMoment,
  type LivePod,
  type LiveZone,
  livePause,
  livePodOf,
  liveRules,
  trippedLimit,
} from '@taintmgr/page';
import { liveActor } from './actor.ts';
import { isOfServer, PastFeed } from './past.ts';
import type { Streams } from './server.ts';

const readEveryMs = 2000;
/** No viewer: only the history continues. */
const unseenEveryMs = 10_000;
/** The API server works for us a fifth of the time at most, however large the cluster is. */
const restPerRead = 4;

/** Reads a cluster for the page. */
interface Feed {
  /** Reads once; throws what reading throws. */
  read(): Promise<void>;
  /** The last look; null: nothing was read yet. */
  look(): Look | null;
  /** Runs until `interrupt`; objects that cannot be read are named on the page, and tried again. */
  follow(interrupt: AbortSignal): Promise<void>;
}

export function feedOf(
  client: ApiClient,
  { history, streams }: { readonly history: LiveHistory; readonly streams: Streams },
  files: readonly PolicyObject[],
): Feed {
  const search = new EvictorSearch(client);
  // The explainer remembers the first sight of taints without a time.
  const explainer = new Explainer({ ...present, policies: files });
  let look: Look | null = null;
  const past = new PastFeed(client, history);
  const publish = (): void => {
    const input = history.input();
    if (input) streams.publish(input);
  };
  const read = async (): Promise<void> => {
    const reader = new ClusterReader(client, undefined, search);
    const [nodes, nodeDrains] = await Promise.all([
      reader.nodes(),
      listNodeDrains(client),
      ...(look ? [] : [past.read()]),
    ]);
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
          if (!isOfServer(error)) throw error;
          history.lose(Date.now(), error.message);
          publish();
        }
        const least = streams.viewers > 0 ? readEveryMs : unseenEveryMs;
        restMs = Math.max(least, (performance.now() - begun) * restPerRead);
        if (streams.viewers > 0 && !interrupt.aborted) await past.readAgain();
      }
    },
  };
}

/** Rests; true where `interrupt` ended it early. */
async function rest(millis: number, interrupt: AbortSignal): Promise<boolean> {
  try {
    await wait(millis, undefined, { signal: interrupt });
    return false;
  } catch (error) {
    if (interrupt.aborted) return true;
    throw error;
  }
}

/** The number of pods that are shown one by one, the next first. */
const podsMax = 2000;

/** All that was read for one look. */
interface Look {
  readonly nodes: readonly NodeFacts[];
  readonly survey: ForecastSurvey;
  readonly report: Report;
  readonly nodeDrains: readonly NodeDrainObject[];
}

/** The state that the page gets, and the pods for which it has no room. */
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
  const { at } = survey;
  const { warnings, notes } = notesOn(survey, report, present);
  return {
    at,
    ...liveActor(survey),
    ...{ warnings, notes },
    zones: zonesIn(survey, nodes, report.nodes).map((zone) => {
      const { held: heldPods, ...counts } = zone;
      return { ...counts, heldPods, held: heldZone(zone.name, survey, report.nodes) };
    }),
    nodes: nodes.map((facts) => {
      const { node, ready, cordoned } = facts;
      const taints = node.taints.map(formatTaint);
      return { name: node.name, zone: zoneOf(facts), ready: ready.status, cordoned, taints };
    }),
    ...{ pods, podsLeftOut },
    actions: [
      ...pausesInForce(survey.policies.objects, at).map((one) => livePause(one, pausedText(one))),
      ...limitsOf(survey),
      ...drainsOf(nodeDrains, nodes),
      ...liveRules(podsIn(report).map(({ explanation }) => explanation)),
    ],
  };
}

function byDue(one: LivePod, other: LivePod): number {
  return (one.dueAt ?? Number.MAX_VALUE) - (other.dueAt ?? Number.MAX_VALUE);
}

/** A pod that is due to leave, is leaving, or whose fate is unknown; nothing for pods that stay. */
function podOf(report: PodReport, at: number): LivePod | readonly [] {
  const { explanation, evictor, isEstimate, limit, blockers } = report;
  const limits = limit ? [{ kind: 'limit', name: limit.id, text: limitLine(limit, at) }] : [];
  const holds = [...limits, ...blockers.map(blockerHold)];
  const state = decisionName(report);
  return livePodOf(explanation, { at, state, evictor, isEstimate, holds }) ?? [];
}

function blockerHold(blocker: PredictedBlocker): LiveHold {
  const budgets = listText(blocker.budgets.map((budget) => budget.name));
  const name = budgets || (webhookDenial(blocker.message)?.webhook ?? '');
  return { kind: blockerKinds[blocker.code], name, text: blockerLine(blocker) };
}

/** The reason why no node of a zone is tainted; null: they are. */
function heldZone(
  name: string,
  { evictor }: ForecastSurvey,
  reports: readonly NodeReport[],
): LiveZone['held'] {
  const holds = reports.flatMap(({ facts, forecast }) => {
    return zoneOf(facts) === name && forecast?.zone?.hold ? [forecast.zone.hold] : [];
  });
  if (holds[0]) return describeHold(holds[0]);
  const held = evictor.heldZones?.find((zone) => zone.name === name);
  return held ? describeHold({ code: 'FullDisruptionHeld', since: held.since }) : null;
}

function limitsOf({ limits }: ForecastSurvey): readonly LiveAction[] {
  const tripped = (limits?.tripped ?? []).map(({ id, since }) => trippedLimit(id, since));
  const counting = (limits?.counting ?? []).map(({ id, evicted, of, windowMs, roomAt }) => {
    const share = `${evicted}${of === null ? '' : ` of ${of}`}`;
    const text = `${share} pods evicted within ${formatDuration(windowMs)}`;
    return { kind: 'limit', name: id, from: roomAt - windowMs, until: roomAt, text } as const;
  });
  return [...tripped, ...counting];
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
      const text = `drain-by-taint evicts the pods of ${on.join(', ')}`;
      return { kind: 'drain', name: id, from: null, until: null, text };
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
    name: metadata.name,
    from: parseTime(metadata.creationTimestamp ?? ''),
    until: parseTime(status.expectedEnd ?? ''),
    text,
  };
}
