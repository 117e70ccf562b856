// Says what a reader of an answer should know beside it.
import {
  formatTaint,
  policyDenial,
  type Reason,
  type Taint,
  type Toleration,
  toleratesTaint,
} from '@taintmgr/core';
import type { DeviceTaintSource } from '@taintmgr/core/devices';
import {
  type Budget,
  drainStaleMs,
  drainText,
  operatorOf,
  type PredictedBlocker,
} from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { taintEvictors } from '../evictors/verdict-words.ts';
import { awaitedDrains, runningDrains } from '../survey/drained-nodes.ts';
import type { Evictor } from '../survey/evictors.ts';
import type { PodDevices } from '../survey/pod-devices.ts';
import type { PoliciesInForce } from '../survey/policies.ts';
import type { ForecastSurvey } from '../survey/survey.ts';
import type { OwnSettings } from '../survey/taint-managers.ts';
import { count, listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import { cordonNotes } from './cordons.ts';
import { limitNotes } from './holding-limits.ts';
import type { Question } from './question.ts';
import { isBare, type NodeReport, type PodReport, podsIn, type Report } from './report.ts';
import { unaskedBudgetTexts } from './unasked-budgets.ts';
import { ago, comparesTaint, isUnwritten, numbersGate, operatorSignText } from './words.ts';

/** Lines that a reader should know before believing an answer. */
export interface Notes {
  /** Missing rights, and things that need a person. */
  readonly warnings: readonly string[];
  /** Assumptions, estimates, and what others do. */
  readonly notes: readonly string[];
}

/** A drain may be at work on many nodes. */
const drainsMax = 5;

const hiddenNote =
  'which taints the nodes of these pods have, and so whether and when the pods go, is unknown: no permission to read nodes. Ask an administrator for the right to get and list nodes, or for the answer';

/** Reads the uncertain parts off a report, and the faults of the cluster. */
export function notesOn(survey: ForecastSurvey, report: Report, question: Question): Notes {
  const { nodes } = report;
  const pods = podsIn(report);
  return {
    warnings: [
      ...survey.refused.map((message) => `not everything could be read: ${printable(message)}`),
      ...heldWarnings(pods),
      ...bareTexts(pods).map(printable),
    ],
    notes: [
      ...(survey.hidesNodes ? [hiddenNote] : []),
      ...nodes.flatMap((node) => unwrittenTaints(node, survey.at)),
      ...unsureNotes(survey),
      ...drainNotes(survey),
      ...awaitedNotes(survey),
      ...cordonNotes(survey, nodes),
      ...queueNotes(survey, nodes),
      ...settingNotes(survey),
      ...limitNotes(survey, pods),
      ...verdictNotes(pods),
      ...numberNotes(survey.evictor, nodes),
      ...(survey.devices ? deviceNotes(survey.devices, pods) : []),
      ...evictorNotes(survey, pods, question),
      ...laterNotes(pods, question),
    ],
  };
}

/**
 * The unknown settings of the controller, and the objects of the cluster that it does not follow.
 */
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

/** The acting program saw the earlier state, and we did not. */
function unsureNotes({ unsure = [] }: ForecastSurvey): readonly string[] {
  return unsure.map((name) =>
    printable(
      `the taints of ${name} were just written, and what was there before cannot be read: times of ` +
        'taints that it had already are estimates, and are known in some seconds',
    ),
  );
}

/** The pods that the controller keeps, and that leave nevertheless. */
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

/** The pods that stay as far as taints say, and leave when it is their node's turn. */
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

/** The rules that the answer follows, and its reliability, where a pod has to leave. */
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
    ? 'taintmgr-controller --semantics=kube-controller-manager'
    : 'kube-controller-manager';
  const estimates =
    `estimates: ${program} keeps its timers in memory, and they are counted from when ` +
    `taints and tolerations were written${from}`;
  if (compare) return [`times of KUBE-CONTROLLER-MANAGER are ${estimates}`];
  if (!goes) return [];
  const who = taintEvictors(evictors);
  // Times that limits make are estimates too, and have a separate note.
  const isEstimated = pods.some((pod) => pod.isEstimate && pod.limit === null);
  const isVain = policies.length > 0 && evictor.name === 'kube-controller-manager';
  const doubt = [
    ...(isVain ? ['kube-controller-manager evicts here and ignores policies'] : []),
    ...(who.kind === 'nobody' ? [`${who.text}: pods stay until a controller does`] : []),
    ...(who.kind === 'unknown' ? [who.text] : []),
  ];
  return [...doubt, ...(isEstimated ? [`times with ~ are ${estimates}`] : [])].map(printable);
}

/** The possible actions for taints of devices, and their unknown parts. */
function deviceNotes(devices: PodDevices, pods: readonly PodReport[]): readonly string[] {
  const ofDevices = pods.flatMap(({ explanation: { decision } }) =>
    decision.kind === 'keep' ? [] : decision.because.flatMap((one) => deviceOf(one) ?? []),
  );
  const isDoubtful = ofDevices.length > 0 && !devices.byOurs;
  return [
    ...deviceAdvice(ofDevices.map(({ source }) => source)),
    ...(isDoubtful && devices.byUpstream === null
      ? [
          'nothing shows that kube-controller-manager runs its device-taint-eviction-controller: the answer assumes that it does',
        ]
      : []),
  ].map(printable);
}

function deviceOf(reason: Reason): { readonly source: DeviceTaintSource } | undefined {
  return 'device' in reason ? reason.device : undefined;
}

/**
 * The possible actions for pods that leave because of taints of these sources: such taints can no
 * longer be tolerated.
 */
export function deviceAdvice(sources: readonly DeviceTaintSource[]): readonly string[] {
  const names = (kind: DeviceTaintSource['kind']): readonly string[] => [
    ...new Set(sources.flatMap((source) => (source.kind === kind ? source.name : []))),
  ];
  const [rules, slices] = [names('rule'), names('slice')];
  return [
    ...(rules.length > 0 ? [ruleNote(rules)] : []),
    ...(slices.length > 0
      ? [
          `the driver of ResourceSlice ${listText(slices)} has set the taint, and it alone can take the taint off: tolerations of a claim cannot be changed once it is allocated`,
        ]
      : []),
  ];
}

function ruleNote(rules: readonly string[]): string {
  const [first = '', ...more] = rules;
  const all = more.length === 0 ? '' : ` (and ${listText(more)})`;
  return `tolerations of a claim cannot be changed once it is allocated; to keep the pods, take DeviceTaintRule ${first}${all} away (kubectl delete devicetaintrule ${first}; one of taint-device: kubectl taintmgr undo devicetaintrule/${first}) or give them time (kubectl taintmgr taint-device devicetaintrule/${first} --snooze 30m)`;
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

/**
 * Returns one line for each NoExecute taint that pods tolerate by Lt or Gt, where that may make a
 * difference.
 */
function numberNotes(evictor: Evictor, nodes: readonly NodeReport[]): readonly string[] {
  const names = new Map<string, string[]>();
  const whys = new Map<string, string>();
  for (const { taints, pods } of nodes) {
    for (const { taint } of taints) {
      for (const { facts } of pods ?? []) {
        const { namespace, name, tolerations } = facts.pod;
        const why = tolerations.flatMap((one) => whyOf(one, taint, evictor) ?? [])[0];
        if (why === undefined) continue;
        const text = formatTaint(taint);
        whys.set(text, why);
        names.set(text, [...(names.get(text) ?? []), `${namespace}/${name}`]);
      }
    }
  }
  return Array.from(whys, ([taint, why]) => {
    const pods = names.get(taint) ?? [];
    return printable(
      `${count(pods.length, 'pod')} (${listText(pods)}) compared with taint ${taint} by Lt or Gt: ${why}`,
    );
  });
}

/** Null: it has nothing to do with the taint, or whether it counts is plain. */
function whyOf(toleration: Toleration, taint: Taint, evictor: Evictor): string | null {
  if (!comparesTaint(toleration, taint)) return null;
  const isInteger = [-1, 1].some((sign) => isBeyond(taint, sign));
  if (!isInteger) return 'the value of the taint is no integer, so no such toleration covers it';
  return toleratesTaint(toleration, taint, { comparisonOperators: true })
    ? gateText(evictor)
    : null;
}

/** True when the value of the taint can be compared with a number. */
function isBeyond(taint: Taint, sign: number): boolean {
  const [operator, value] = sign > 0 ? ['Gt', `${-(2n ** 63n)}`] : ['Lt', `${2n ** 63n - 1n}`];
  const { key, effect } = taint;
  const all = { key, operator, value, effect, tolerationSeconds: null };
  return toleratesTaint(all, taint, { comparisonOperators: true });
}

/** Null: such tolerations count, for sure. */
function gateText(evictor: Evictor): string | null {
  const { name, settings, comparesNumbers, assumesNumbers } = evictor;
  const off = (who: string): string =>
    `the toleration does not count, as ${numbersGate} of ${who} is off`;
  if (settings) {
    return settings.engine.comparisonOperators === true ? null : off('taintmgr-controller');
  }
  if (name === 'taintmgr-controller') {
    return `whether the toleration counts depends on ${numbersGate} of taintmgr-controller, whose settings cannot be seen: it is taken to be off, which is the default`;
  }
  if (assumesNumbers) {
    return (
      `the toleration is taken to count, because an API server stores such tolerations only while ${numbersGate} is on there; ` +
      'the flags of kube-controller-manager cannot be seen: if the gate is off there, the pods go as if they had no such toleration'
    );
  }
  return comparesNumbers === true ? null : off('kube-controller-manager');
}

/** The holds that keep pods from leaving until a person acts. */
export function heldWarnings(pods: readonly PodReport[]): readonly string[] {
  return [
    ...eachBudget(
      pods,
      ({ verdict, budgets }) =>
        budgets.length > 0 && (verdict === 'never' || verdict === 'askOperator'),
      shutText,
    ),
    ...unreadyTexts(pods),
    ...unaskedBudgetTexts(pods),
    ...deniedTexts(pods),
  ].map(printable);
}

/** The blockers that others resolve. */
function verdictNotes(pods: readonly PodReport[]): readonly string[] {
  const isOperators = ({ verdict, budgets }: PredictedBlocker): boolean =>
    verdict === 'othersAct' && budgets.length > 0;
  return [...eachBudget(pods, isOperators, operatorText), ...interceptedTexts(pods)].map(printable);
}

/** Returns one line for each statement of a webhook. */
function interceptedTexts(pods: readonly PodReport[]): readonly string[] {
  return Array.from(
    refusedPods(pods, ({ code, message }) => (code === 'Intercepted' ? message : null)),
    ([message, names]) => `${podsText(names, 'that another program may move')}: ${message}`,
  );
}

/** Returns one line for each policy that refuses. */
function deniedTexts(pods: readonly PodReport[]): readonly string[] {
  const refused = refusedPods(pods, ({ code, message }) => {
    const denial = code === 'Denied' ? policyDenial(message) : null;
    return denial && `ValidatingAdmissionPolicy ${denial.policy} (binding ${denial.binding})`;
  });
  return Array.from(
    refused,
    ([who, names]) =>
      `${who} refuses the eviction of ${count(names.length, 'pod')} (${listText(names)}); will not resolve by itself: change the policy or its binding`,
  );
}

function refusedPods(
  pods: readonly PodReport[],
  keyFor: (blocker: PredictedBlocker) => string | null,
): ReadonlyMap<string, readonly string[]> {
  const refused = new Map<string, string[]>();
  for (const { facts, blockers } of pods) {
    for (const blocker of blockers) {
      const key = keyFor(blocker);
      if (key === null) continue;
      const { namespace, name } = facts.pod;
      refused.set(key, [...(refused.get(key) ?? []), `${namespace}/${name}`]);
    }
  }
  return refused;
}

/** Returns one line for each set of budgets that blocks a pod in such a way. */
function eachBudget(
  pods: readonly PodReport[],
  isMeant: (blocker: PredictedBlocker) => boolean,
  textOf: (names: string, blocker: PredictedBlocker) => string,
): readonly string[] {
  const texts = new Map<string, string>();
  for (const blocker of pods.flatMap(({ blockers }) => blockers).filter(isMeant)) {
    texts.set(keyOf(blocker.budgets), textOf(namesOf(blocker.budgets), blocker));
  }
  return [...texts.values()];
}

/** A budget that lets no pod go, at any time. */
function shutText(names: string, blocker: PredictedBlocker): string {
  const { message, budgets, operatorSign } = blocker;
  const why = `PDB ${names}: ${message.replace(/[.]$/, '')}`;
  const operator = budgets.flatMap((budget) => operatorOf(budget) ?? [])[0];
  if (operator) {
    const owner = `${operator.kind}/${operator.name} (${operator.apiVersion})`;
    return `${why}; will not resolve by itself: see to it by way of ${owner}, to which a PDB belongs`;
  }
  if (operatorSign) {
    return (
      `${why}; an operator may keep it so on purpose, and end that itself ` +
      `(${operatorSignText(operatorSign)}): ask that operator before you scale up, relax or delete the PDB`
    );
  }
  const cure = budgets.length > 1 ? 'leave one PDB for each pod' : 'scale up or relax the PDB';
  return `${why}; will not resolve by itself: ${cure}`;
}

function operatorText(names: string, { budgets: [budget] }: PredictedBlocker): string {
  const operator = budget ? operatorOf(budget) : null;
  const { kind = '', name = '', apiVersion = '' } = operator ?? {};
  return (
    `PDB ${names} belongs to ${kind}/${name} (${apiVersion}): its operator acts, ` +
    'by moving the pod in its own way; neither scale up nor relax the PDB'
  );
}

function unreadyTexts(pods: readonly PodReport[]): readonly string[] {
  const held = new Map<string, string[]>();
  for (const { facts, blockers } of pods) {
    for (const { remedy, budgets } of blockers) {
      if (remedy === undefined) continue;
      // Only one that is alone over a pod has a remedy, so no name is cut.
      const names = namesOf(budgets);
      held.set(names, [...(held.get(names) ?? []), facts.pod.name]);
    }
  }
  return Array.from(
    held,
    ([names, unready]) =>
      `PDB ${names} holds back ${podsText(unready, 'not ready')}: ` +
      'set unhealthyPodEvictionPolicy: AlwaysAllow in it, and pods that are not ready may go',
  );
}

function bareTexts(pods: readonly PodReport[]): readonly string[] {
  const bare = pods.filter(
    ({ facts: { pod }, explanation }) => explanation.decision.kind !== 'keep' && isBare(pod),
  );
  if (bare.length === 0) return [];
  const names = bare.map(({ facts: { pod } }) => `${pod.namespace}/${pod.name}`);
  return [
    `${podsText(names, 'without a controller')}: ${bare.length === 1 ? 'it is' : 'they are'} not recreated`,
  ];
}

/** `1 pod not ready (shop/web-0)` */
function podsText(names: readonly string[], what: string): string {
  return `${count(names.length, 'pod')} ${what} (${listText(names)})`;
}

function namesOf(budgets: readonly Budget[]): string {
  return listText(
    budgets.map(({ namespace, name }) => `${namespace}/${name}`),
    ' and ',
  );
}

function keyOf(budgets: readonly Budget[]): string {
  return budgets.map(({ namespace, name }) => `${namespace}/${name}`).join(' ');
}

const files = 'the --policy files of taintmgr-controller';

/** The notes on policies that are not simply those of the cluster. */
export function sourceNotes(
  { ofController, unknown, isIgnored }: PoliciesInForce,
  { policies }: OwnSettings,
): readonly string[] {
  const known = ofController.filter((name) => !unknown.includes(name));
  const open = 'is not known here, and may change this';
  return [
    ...(isIgnored
      ? ['taintmgr-controller does not follow the policies and pauses of the cluster']
      : []),
    ...(known.length > 0 ? [`from ${files}: ${known.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`what ${unknown.join(', ')} of ${files} says ${open}`] : []),
    ...(policies === null ? [`what ${files} say ${open}`] : []),
  ];
}
