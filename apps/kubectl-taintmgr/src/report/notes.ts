import { formatTaint } from '@taintmgr/core';
import { drainStaleMs, drainText } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { taintEvictors } from '@taintmgr/k8s-adapter/client';
import { type Output, warn } from '../cli/output.ts';
import { awaitedDrains, runningDrains } from '../cluster/drain-marks.ts';
import type { ForecastSurvey } from '../cluster/survey.ts';
import { count } from '../render/count.ts';
import { printable } from '../render/printable.ts';
import { limitNotes } from './limits.ts';
import { numberNotes } from './number-notes.ts';
import { sourceNotes } from './policy-sources.ts';
import type { Question } from './question.ts';
import { type NodeReport, type PodReport, podsIn, type Report } from './report.ts';
import { verdictNotes, verdictWarnings } from './verdict-notes.ts';
import { ago, isUnwritten } from './words.ts';

/** What a reader should know before believing an answer, one line each. */
export interface Notes {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** A drain may be at work on many nodes. */
const drainsMax = 5;

const hiddenNote =
  'which taints the nodes of these pods have, and so whether and when the pods go, is unknown: no permission to read nodes';

/** Writes them as they are meant for a person. */
export function writeNotes(output: Output, { warnings, notes }: Notes): void {
  for (const text of warnings) warn(output, text);
  for (const text of notes) output.err(`Note: ${printable(text)}`);
}

/** Reads off a report what is uncertain about it, and what is wrong in the cluster. */
export function notesOn(survey: ForecastSurvey, report: Report, question: Question): Notes {
  const { nodes } = report;
  const pods = podsIn(report);
  return {
    warnings: [
      ...survey.refused.map((message) => `not everything could be read: ${printable(message)}`),
      ...verdictWarnings(pods),
    ],
    notes: [
      ...(survey.hidesNodes ? [hiddenNote] : []),
      ...nodes.flatMap((node) => unwrittenTaints(node, survey.at)),
      ...unsureNotes(survey),
      ...drainNotes(survey),
      ...awaitedNotes(survey),
      ...queueNotes(survey, nodes),
      ...settingNotes(survey),
      ...limitNotes(survey, pods),
      ...verdictNotes(pods),
      ...numberNotes(survey.evictor, nodes),
      ...evictorNotes(survey, pods, question),
      ...laterNotes(pods, question),
    ],
  };
}

/** What of its settings is not known here, and what of the cluster it does not follow. */
function settingNotes({ evictor: { settings }, policies }: ForecastSurvey): readonly string[] {
  if (!settings) return [];
  const notes = settings.unusable.map((text) => {
    return `taintmgr-controller runs with ${text}, which is not understood here and left out`;
  });
  return [...notes, ...sourceNotes(policies, settings)].map(printable);
}

function unwrittenTaints({ facts, taints }: NodeReport, now: Instant): readonly string[] {
  const { taintsWritten: write } = facts;
  const last = write
    ? ` (the taints of ${facts.node.name} were last changed ${ago(now, write.at)} by ${write.by})`
    : '';
  return taints
    .filter((observed) => isUnwritten(observed, now))
    .map(({ taint }) => {
      const time = taint.timeAdded === null ? 'no timeAdded' : 'a timeAdded that is yet to come';
      const what = `taint ${formatTaint(taint)} has ${time}`;
      return `${what}; times are estimates, and pods may be due sooner${last}`;
    })
    .map(printable);
}

/** The one who acts saw what was before, and we did not. */
function unsureNotes({ unsure = [] }: ForecastSurvey): readonly string[] {
  return unsure.map((name) =>
    printable(
      `the taints of ${name} were just written, and what was there before cannot be read: times of ` +
        'taints that it had already are estimates, and are known in some seconds',
    ),
  );
}

/** Whose pods stay as far as the controller is concerned, and go all the same. */
function drainNotes({ at, nodes, evictor: { heedsDrains } }: ForecastSurvey): readonly string[] {
  if (!heedsDrains) return [];
  return runningDrains(nodes)
    .filter(({ heartbeat }) => at - heartbeat < drainStaleMs)
    .slice(0, drainsMax)
    .map(({ id, node, by, heartbeat }) => {
      return `${drainText({ id, by })} evicts the pods of ${node} (heartbeat ${ago(at, heartbeat)}): taintmgr-controller leaves them to it`;
    })
    .map(printable);
}

/** Whose pods stay as far as taints say, and go when it is their node's turn. */
function awaitedNotes({ nodes }: ForecastSurvey): readonly string[] {
  return awaitedDrains(nodes)
    .slice(0, drainsMax)
    .map(({ id, node, by }) => {
      return `${node} waits for ${drainText({ id, by })}, which has not tainted it yet: if that runs (kubectl taintmgr status), its pods leave when it is the turn of ${node}`;
    })
    .map(printable);
}

function queueNotes({ evictor }: ForecastSurvey, nodes: readonly NodeReport[]): readonly string[] {
  if (!nodes.some(({ forecast }) => forecast?.health.place != null)) return [];
  const isKnown = evictor.settings?.watchesNodes === true;
  const whose = isKnown
    ? 'the rates and grace periods of taintmgr-controller'
    : 'the default rates and grace periods';
  return [
    `when a node will be tainted is an estimate: it assumes ${whose}, ` +
      'and kube-controller-manager takes the nodes of a zone in no particular order',
  ];
}

/** Whose rules the answer follows, and how far it can be trusted, where a pod is to go. */
function evictorNotes(
  { evictors, evictor }: ForecastSurvey,
  pods: readonly PodReport[],
  { compare, policies }: Question,
): readonly string[] {
  const goes = pods.some((pod) => {
    return pod.explanation.decision.kind === 'evict' && pod.evictor !== 'drain-by-taint';
  });
  const from = evictor.upstreamSince === null ? '' : ', and no earlier than its own start';
  const isOurs = evictor.name === 'taintmgr-controller' && evictor.rules !== evictor.name;
  const program = isOurs
    ? 'taintmgr-controller --semantics=upstream-1.36'
    : 'kube-controller-manager';
  const estimates =
    `estimates: ${program} keeps its timers in memory, and they are counted from when ` +
    `taints and tolerations were written${from}`;
  if (compare) return [`times of KUBE-CONTROLLER-MANAGER are ${estimates}`];
  if (!goes) return [];
  const who = taintEvictors(evictors);
  // Times that limits make are estimates too, and have a note of their own.
  const isEstimated = pods.some((pod) => pod.isEstimate && pod.limit === null);
  const isVain = policies.length > 0 && evictor.name === 'kube-controller-manager';
  const doubt = [
    ...(isVain ? ['kube-controller-manager evicts here and knows no policies'] : []),
    ...(who.kind === 'nobody' ? [`${who.text}: pods stay until a controller does`] : []),
    ...(who.kind === 'unknown' ? [who.text] : []),
  ];
  return [...doubt, ...(isEstimated ? [`times with ~ are ${estimates}`] : [])].map(printable);
}

function laterNotes(pods: readonly PodReport[], { after }: Question): readonly string[] {
  const gone = pods.filter(({ explanation: { remaining } }) => remaining !== null && remaining < 0);
  if (after === 0 || gone.length === 0) return [];
  const [verb, them] = gone.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return [
    `${count(gone.length, 'pod')} ${verb} due before that time: gone by then, ` +
      `unless something blocks ${them}`,
  ];
}
