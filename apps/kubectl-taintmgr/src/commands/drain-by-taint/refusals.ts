// The reasons for which a drain does not begin: missing flags and rights, other controllers and drains.
import { formatTaint, type Taint } from '@taintmgr/core';
import {
  type DrainPlan,
  deletedByPolicy,
  drainFlag,
  drainStaleMs,
  nodeDrainer,
  noExecuteFault,
  ownDeletions,
  type PlannedPod,
} from '@taintmgr/core/drain';
import type { BudgetPolicy, NodeDrain } from '@taintmgr/core/policy';
import { formatDuration } from '@taintmgr/core/time';
import { taintEvictors } from '@taintmgr/k8s-adapter/client';
import { count, countBy, shellWord, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { type DrainMark, drainName, readMarks } from '@taintmgr/k8s-adapter/drain';
import {
  type ClusterReader,
  describeRight,
  evictsBeside,
  isAllowed,
  type NodeSurvey,
  type Right,
  readClusterPolicies,
  rightOf,
  workOn,
} from '@taintmgr/k8s-adapter/survey';
import type { Drain } from './drain.ts';

/** Throws UsageError for a taint that was forgotten: the first node would be taken for it. */
export async function refuseNodeName(
  reader: Pick<ClusterReader, 'nodeIfThere'>,
  text: string,
): Promise<void> {
  if (/[=:/]/.test(text) || !(await reader.nodeIfThere(text))) return;
  throw new UsageError(
    `${text} is a node, and no taint precedes it; nothing was changed; did you mean: kubectl taintmgr drain-by-taint maintenance=kernel ${shellWord(text)}`,
  );
}

/** One line that names the missing flags for the drain to begin; null when none is missing. */
export function flagsFault({ pods }: DrainPlan): string | null {
  const flags = pods.flatMap(({ fate }) => {
    const faults = fate.kind === 'refuse' ? fate.faults : [];
    return [...new Set(faults.map((fault) => drainFlag[fault]))];
  });
  const missing = countBy(flags);
  if (missing.size === 0) return null;
  const needs = Array.from(missing, ([flag, number]) => {
    return `${count(number, 'pod')} ${number === 1 ? 'needs' : 'need'} ${flag}`;
  });
  return `${needs.join(', ')}; nothing was changed`;
}

/**
 * The other controller that would take the pods of the drain's taint without asking budgets, in words. Null:
 * no controller would, as far as is known, or only one acts that leaves them to the drain.
 */
export function overlapFault(
  taint: Taint,
  { evictors, evictor }: Pick<NodeSurvey, 'evictors' | 'evictor'>,
  budgets: BudgetPolicy,
): string | null {
  const all = taintEvictors(evictors);
  if (taint.effect !== 'NoExecute' || all.kind === 'nobody') return null;
  const beside = evictsBeside(evictors, evictor);
  const isLeft = evictor.name === 'taintmgr-controller' && evictor.heedsDrains && !beside;
  if (isLeft && (evictor.asksBudgets || budgets.kind === 'ignore')) return null;
  if (isLeft) return heedlessFault(taint);
  const answer = beside ?? all;
  // With takeover one that acts is there to stay.
  const isMeant = evictor.takesOver && answer.kind === 'acts';
  const advice = isMeant ? '' : answer.advice;
  const where = evictor.takesOver ? 'in namespaces that are not taken over ' : '';
  const text = `${where}${answer.text}`;
  return (
    `${noExecuteFault(taint, { text, advice })}, or accept it with --allow-overlap: the drain then stops at the first pod that ` +
    'another controller takes'
  );
}

/** The controller leaves pods to a drain only for as long as the drain is at work. */
function heedlessFault(taint: Taint): string {
  return `${noExecuteFault(taint, ownDeletions)}, or accept it with --allow-overlap`;
}

/**
 * The policy that is in the way, in words: by it taintmgr-controller deletes, without asking budgets,
 * the pods that the drain leaves when it is killed or ends. Null: no policy is.
 */
export async function policyFault(
  { survey, settings: { taint, budgets }, config }: Drain,
  reader: ClusterReader,
): Promise<string | null> {
  const { evictor, nodes, pods } = survey;
  const isSafe = taint.effect !== 'NoExecute' || budgets.kind === 'ignore';
  if (isSafe || evictor.name !== 'taintmgr-controller') return null;
  const { objects, namespaces } = await readClusterPolicies(reader, Promise.resolve(evictor));
  const policies = objects.flatMap((one) => (one.kind === 'EvictionPolicy' ? [one.value] : []));
  const labels = new Map(namespaces.map((one) => [one.name, one.labels]));
  for (const { node } of nodes) {
    const here = pods.flatMap(({ pod }) => (pod.nodeName === node.name ? [pod] : []));
    const namespaceLabels = (name: string) => labels.get(name) ?? null;
    const deleted = deletedByPolicy({ node, pods: here, policies, namespaceLabels }, taint, config);
    if (deleted) return `${noExecuteFault(taint, deleted)}, or accept it with --allow-overlap`;
  }
  return null;
}

/** The drain that is at work on one of the nodes, as far as the API server's clock shows; null: none. */
export async function anotherDrainFault(drain: Drain): Promise<string | null> {
  const { connection, survey } = drain;
  const kept = survey.nodes.flatMap(({ node, annotations }) =>
    readMarks(annotations).flatMap((mark) => (isKept(mark, drain) ? { node, mark } : [])),
  );
  const [other] = kept;
  if (other) {
    const { node, mark } = other;
    return (
      `${drainName(mark)} has put ${formatTaint(mark.taint)} on ${node.name}: undo that one first ` +
      `(kubectl taintmgr undo ${shellWord(mark.id)}), or choose another taint; nothing was changed`
    );
  }
  const [work] = await workOn(connection.client, survey.nodes);
  if (!work) return null;
  return (
    `${work.text}: wait for its end; if it was killed, until its mark is ` +
    `${formatDuration(drainStaleMs)} old; nothing was changed`
  );
}

/** True where a NodeDrain that is at work no more has set this taint: only that one may take it back. */
function isKept({ by, work, taint }: DrainMark, { wanted }: Drain): boolean {
  const isAway = work === null || work.hasEnded;
  return by === nodeDrainer && isAway && formatTaint(taint) === formatTaint(wanted.taint);
}

/** A right that is needed everywhere, or at least in these places. */
interface Need {
  readonly right: Right;
  readonly places: readonly Pick<Right, 'namespace' | 'name'>[];
}

/**
 * The rights that are missing to carry a drain out, in one line; null: none is, as far as the API
 * server says. Checked before anything is changed.
 */
export async function rightsFault(drain: Drain, plan: DrainPlan): Promise<string | null> {
  const lists = await Promise.all(needsOf(drain, plan).map((need) => missingOf(drain, need)));
  const rights = lists.flat().map(describeRight);
  if (rights.length === 0) return null;
  return `no permission to ${rights.join(', ')}; nothing was changed`;
}

function needsOf({ settings, survey }: Drain, { pods }: DrainPlan): readonly Need[] {
  const { kind } = settings.budgets;
  const nodeNames = survey.nodes.map(({ node }) => ({ name: node.name }));
  const [first, ...others] = nodeNames;
  const going = pods.filter(({ fate }) => fate.kind === 'evict');
  const namespaces = [...new Set(going.map(({ pod }) => pod.namespace))].sort();
  const inNamespaces = namespaces.map((namespace) => ({ namespace }));
  return [
    // Of one node alone its name is enough.
    { right: rightOf('watch nodes'), places: first && others.length === 0 ? [first] : [{}] },
    { right: rightOf('watch pods'), places: [{}] },
    { right: rightOf('patch nodes'), places: nodeNames },
    { right: rightOf('create pods/eviction'), places: kind === 'ignore' ? [] : inNamespaces },
    { right: rightOf('delete pods'), places: kind === 'respect' ? [] : inNamespaces },
    ...workloadNeeds(settings.drain, going),
  ];
}

const rolloutRights = ['get replicasets.apps', 'get deployments.apps', 'patch deployments.apps'];
const setRights = ['get statefulsets.apps', 'list persistentvolumeclaims'];
const volumeRights = ['get persistentvolumes', 'list volumeattachments.storage.k8s.io'];

/** The rights for restarts of rollouts and waits for volumes, where there are pods for them. */
function workloadNeeds(
  { spec: { pods } }: NodeDrain,
  going: readonly PlannedPod[],
): readonly Need[] {
  const placesOf = (kind: string): Need['places'] => {
    const owned = going.filter(({ pod: { owner } }) => owner?.kind === kind);
    const namespaces = new Set(owned.map(({ pod }) => pod.namespace));
    return [...namespaces].sort().map((namespace) => ({ namespace }));
  };
  const needs = (rights: readonly string[], places: Need['places']): readonly Need[] =>
    rights.map((right) => ({ right: rightOf(right), places }));
  const sets = pods.waitDetached ? placesOf('StatefulSet') : [];
  return [
    ...needs(rolloutRights, pods.singleReplicas === 'Evict' ? [] : placesOf('ReplicaSet')),
    ...needs(setRights, sets),
    ...needs(volumeRights, sets.length === 0 ? [] : [{}]),
  ];
}

/** The places where a right is missing. A right that is there everywhere takes one question. */
async function missingOf(
  { connection: { client } }: Drain,
  { right, places }: Need,
): Promise<readonly Right[]> {
  if (places.length === 0 || (await isAllowed(client, right)) !== false) return [];
  const lacking: Right[] = [];
  for (const place of places) {
    const here = { ...right, ...place };
    if ((await isAllowed(client, here)) === false) lacking.push(here);
  }
  return lacking;
}
