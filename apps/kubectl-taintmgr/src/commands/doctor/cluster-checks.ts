// The checks of nodes, pods, budgets and taints.
import { formatTaint, type Owner } from '@taintmgr/core';
import {
  type Budget,
  budgetsOver,
  isShut,
  operatorOf,
  operatorSignOf,
  predictBlockers,
} from '@taintmgr/core/drain';
import { formatDuration, type Millis, parseTime } from '@taintmgr/core/time';
import { count, listText, shellWord } from '@taintmgr/k8s-adapter/command-line';
import { ago, isBare, operatorSignText } from '@taintmgr/k8s-adapter/explain';
import {
  drainsOn,
  isDead,
  type NodeFacts,
  type PodFacts,
  type Survey,
} from '@taintmgr/k8s-adapter/survey';
import { type Finding, type FindingOf, findingsOf, orWell } from './finding.ts';

/** A pod that should have ended this long ago is reported. */
const stuckAfterMs: Millis = 600_000;

/** Budgets that allow no eviction, that share pods, that select nothing. */
export function checkBudgets({ budgets, pods }: Survey): readonly Finding[] {
  const finding = findingsOf('budgets');
  if (budgets === null) return [finding('INFO', 'no permission to list PodDisruptionBudgets')];
  const findings: Finding[] = [];
  for (const budget of budgets) {
    const about = `pdb/${budget.name} -n ${budget.namespace}`;
    const { desired, expected, healthy, refusal } = budget;
    if (refusal?.reason === 'SyncFailed') {
      findings.push(finding('FAIL', `cannot be computed: ${refusal.message}`, { about }));
    } else if (expected === 0) {
      findings.push(emptyFinding(finding, budget, pods ?? []));
    } else if (isShut(budget)) {
      const needs = `needs ${desired} of ${expected} pods healthy (${healthy} are)`;
      findings.push(shutFinding(finding, budget, pods ?? [], { needs, about }));
    }
  }
  findings.push(...unreadyFindings(finding, budgets, pods ?? []));
  for (const { about, pods: shared, operator } of sharedPods(budgets, pods ?? [])) {
    const message = `${countText(shared)} selected by all of them: the Eviction API refuses to evict such pods`;
    const whose = operator ? `, that of ${operator.kind}/${operator.name}` : '';
    const fix = `leave one PDB for each pod${whose}`;
    findings.push(finding('FAIL', message, { about, fix }));
  }
  return orWell(
    finding,
    findings,
    `${count(budgets.length, 'PDB')}, none blocks evictions for good`,
  );
}

/** A budget that counts no pods: there are none, or no controller counts them. */
function emptyFinding(finding: FindingOf, budget: Budget, pods: readonly PodFacts[]): Finding {
  const about = `pdb/${budget.name} -n ${budget.namespace}`;
  const selected = pods.filter(({ pod }) => budgetsOver(pod, [budget]).length > 0);
  if (selected.length === 0) {
    return finding('WARN', 'selects no pods', { about, fix: 'fix its selector, or delete it' });
  }
  const names = selected.map(({ pod }) => pod.name);
  const message = `${countText(names)} selected, but its status counts none: the Eviction API refuses until that changes`;
  const fix = "see whether kube-controller-manager's disruption-controller runs";
  return finding('WARN', message, { about, fix });
}

/** A budget that is shut, by mistake or because its operator moves the pods in its own way. */
function shutFinding(
  finding: FindingOf,
  budget: Budget,
  pods: readonly PodFacts[],
  { needs, about }: { readonly needs: string; readonly about: string },
): Finding {
  const operator = operatorOf(budget);
  if (operator) {
    const { kind, name, apiVersion } = operator;
    return finding('INFO', `${needs}: its operator acts (${kind}/${name}, ${apiVersion})`, {
      about,
    });
  }
  const held = pods.map(({ pod }) => pod).filter((pod) => budgetsOver(pod, [budget]).length > 0);
  const sign = operatorSignOf(budget, held);
  if (sign) {
    const message = `${needs}: it never allows an eviction, which may be its operator's doing (${operatorSignText(sign)})`;
    return finding('WARN', message, { about, fix: 'ask that operator before you change the PDB' });
  }
  const fix = 'scale up or relax the PDB';
  return finding('WARN', `${needs}: it never allows an eviction`, { about, fix });
}

/** Budgets that hold back pods only because these are not ready. */
function unreadyFindings(
  finding: FindingOf,
  budgets: readonly Budget[],
  pods: readonly PodFacts[],
): readonly Finding[] {
  const held = new Map<Budget, string[]>();
  for (const { pod } of pods) {
    const site = { budgets, finalizers: [], nodeAnswers: null };
    for (const {
      remedy,
      budgets: [budget],
    } of predictBlockers(pod, site)) {
      if (remedy && budget) held.set(budget, [...(held.get(budget) ?? []), pod.name]);
    }
  }
  const fix = 'set unhealthyPodEvictionPolicy: AlwaysAllow';
  return Array.from(held, ([{ namespace, name }, names]) => {
    const message = `holds back ${count(names.length, 'pod')} that ${names.length === 1 ? 'is' : 'are'} not ready (${listText(names)})`;
    return finding('WARN', message, { about: `pdb/${name} -n ${namespace}`, fix });
  });
}

/** Pods that are gone for good once they are evicted. */
export function checkBarePods({ pods }: Survey): readonly Finding[] {
  const finding = findingsOf('bare-pods');
  if (pods === null) return [finding('INFO', 'no permission to list pods')];
  const names = pods
    .filter(({ pod }) => isBare(pod) && pod.deletionTimestamp === null)
    .map(({ pod }) => `${pod.namespace}/${pod.name}`);
  if (names.length === 0) return [finding('OK', 'every pod has a controller')];
  const [has, them] = names.length === 1 ? ['has', 'it is'] : ['have', 'they are'];
  const message = `${count(names.length, 'pod')} ${has} no controller (${listText(names)}): ${them} not recreated after an eviction`;
  return [finding('INFO', message, { fix: 'run them from a Deployment or Job' })];
}

/** `operator`: an object of an operator that one of the budgets belongs to. */
interface SharedPods {
  readonly about: string;
  readonly pods: readonly string[];
  readonly operator: Owner | undefined;
}

/** Pods under more than one budget, by the names of these. */
function sharedPods(budgets: readonly Budget[], pods: readonly PodFacts[]): readonly SharedPods[] {
  const shared = new Map<string, SharedPods & { readonly pods: string[] }>();
  for (const { pod } of pods) {
    const over = budgetsOver(pod, budgets);
    if (over.length < 2) continue;
    const names = over.map(({ name }) => `pdb/${name}`);
    const key = `${pod.namespace} ${names.join(' ')}`;
    const about = `${listText(names)} -n ${pod.namespace}`;
    const operator = over.flatMap((budget) => operatorOf(budget) ?? [])[0];
    const entry = shared.get(key) ?? { about, pods: [], operator };
    entry.pods.push(pod.name);
    shared.set(key, entry);
  }
  return [...shared.values()];
}

/** NoExecute taints without any record of when they were added. */
export function checkTaints({ nodes }: Survey): readonly Finding[] {
  const finding = findingsOf('taints');
  if (nodes === null) return [finding('INFO', 'no permission to list nodes')];
  const fix = 'add taints with drain-by-taint, which writes timeAdded';
  const findings = nodes.flatMap((facts) =>
    timelessTaints(facts).map((name) => {
      const unknown = `${name} has no timeAdded, and managedFields do not show when it was added`;
      const message = `${unknown}: deadlines count from when it is first seen`;
      return finding('WARN', message, { about: `node/${facts.node.name}`, fix });
    }),
  );
  return orWell(finding, findings, 'the start of every NoExecute taint is known');
}

/** A record of a controller is good for one write of the taints: without that nothing is known. */
function timelessTaints({ node }: NodeFacts): readonly string[] {
  if (node.taintsWrittenAt != null) return [];
  return node.taints
    .filter(({ effect, timeAdded }) => effect === 'NoExecute' && timeAdded === null)
    .map(formatTaint);
}

/** Pods that should have ended long ago; on a node whose machine seems to be dead, that should have ended. */
export function checkStuckPods({ pods, nodes, at }: Survey): readonly Finding[] {
  const finding = findingsOf('stuck-pods');
  if (pods === null) return [finding('INFO', 'no permission to list pods')];
  const ready = new Map((nodes ?? []).map((facts) => [facts.node.name, facts.ready]));
  const findings = pods.flatMap(({ pod, finalizers }) => {
    const since = pod.deletionTimestamp;
    const readiness = ready.get(pod.nodeName);
    const isLost = readiness !== undefined && isDead(readiness, at);
    if (since === null || at - since < (isLost ? 0 : stuckAfterMs)) return [];
    const isNotReady = pod.nodeName !== '' && readiness?.status !== 'True';
    const why = [
      ...(finalizers.length > 0 ? [`finalizers ${finalizers.join(', ')}`] : []),
      ...(isNotReady ? [`node ${pod.nodeName} is not ready`] : []),
    ];
    const reason = why.length === 0 ? '' : `: ${why.join('; ')}`;
    const message = `should have terminated ${formatDuration(at - since)} ago${reason}`;
    const fix = isLost
      ? { fix: `kubectl taintmgr explain node ${shellWord(pod.nodeName)} says what has to be done` }
      : {};
    return [finding('WARN', message, { about: `pod/${pod.name} -n ${pod.namespace}`, ...fix })];
  });
  return orWell(finding, findings, 'no pod is stuck');
}

/** Nodes with changes of drains that were not undone. */
export function checkDrains({ nodes, at }: Survey): readonly Finding[] {
  const finding = findingsOf('drains');
  if (nodes === null) return [finding('INFO', 'no permission to list nodes')];
  const drains = drainsOn(nodes);
  if (drains.length === 0) return [finding('OK', 'no unfinished drains')];
  return drains.map(({ id, nodes: names }) => {
    const begun = beginOf(id);
    const since = begun === null ? '' : `, started ${ago(at, begun)}`;
    const message = `has changed ${listText(names)}${since}`;
    return finding('INFO', message, { about: id, fix: `kubectl taintmgr undo ${shellWord(id)}` });
  });
}

/** When a drain began, by its name; null where the name does not say. */
function beginOf(id: string): number | null {
  const [, y, mo, d, h, mi, s] = /^drain-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id) ?? [];
  return y === undefined ? null : parseTime(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

function countText(names: readonly string[]): string {
  return names.length === 1
    ? `pod ${names[0]} is`
    : `${names.length} pods (${listText(names)}) are`;
}
