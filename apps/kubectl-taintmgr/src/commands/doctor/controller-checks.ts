// Checks of who evicts: controllers, their settings, policies, and what overlaps.

import {
  actionRights,
  type EvictionPolicy,
  type PodRight,
  podRightRemedies,
} from '@taintmgr/core/policy';
import { type PressureConditionType, pressureConditionTypes } from '@taintmgr/core/pressure';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import {
  contradictionText,
  type Evictors,
  type Evidence,
  ownConditionType,
  ownTaintKey,
  taintEvictors,
  verdictText,
  wayToKnow,
} from '@taintmgr/k8s-adapter';
import { shellWord } from '@taintmgr/k8s-adapter/command-line';
import { sourceNotes } from '@taintmgr/k8s-adapter/explain';
import { actionHint, policyApiVersion, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import {
  ClusterReader,
  evictsUnderPressure,
  isAllowedTo,
  isFresh,
  isOursAlone,
  leaderAccount,
  type NodeFacts,
  type ObjectMeta,
  readClusterPolicies,
  readUnfollowed,
  rightOf,
  type Survey,
  type TaintManager,
  taintController,
  upstreamVerdict,
} from '@taintmgr/k8s-adapter/survey';
import type { Connection } from '../../cli/connection.ts';
import { version } from '../../cli/version.ts';
import { type Finding, findingsOf, orWell } from './finding.ts';

const probeHint = 'kubectl taintmgr doctor --probe shows whether it does';

export function checkOverlap(survey: Survey): readonly Finding[] {
  return [...actingFindings(survey), ...doubtFindings(survey)];
}

function actingFindings({ evictors, evictor }: Survey): readonly Finding[] {
  const finding = findingsOf('overlap');
  if (evictor.takesOver && actingIn(evictors).length === 1) {
    const who = verdictText(evictors.taintmgr, 'runs with --takeover');
    const other = 'kube-controller-manager evicts in namespaces that are not taken over';
    return [finding('OK', `taintmgr-controller ${who}: ${other}`)];
  }
  const answer = taintEvictors(evictors);
  const { taintmgr } = evictors;
  if (answer.kind === 'nobody') {
    const traces = tracesOf(evictors);
    if (traces === null) return [finding('INFO', answer.text)];
    return [finding('WARN', `${answer.text}; ${traces}`)];
  }
  if (isOursAlone(evictors)) {
    return ownFindings(evictors);
  }
  if (taintmgr.kind === 'acts') {
    const message = `${answer.text}; taintmgr-controller (${taintmgr.who}) runs too: the one that ignores PDBs wins`;
    return [finding('WARN', message, { fix: answer.advice })];
  }
  if (answer.kind === 'unknown') {
    const message = `${answer.text}; assume that it does`;
    const isUpstream = answer.agent === 'kube-controller-manager';
    const fix = isUpstream ? `${answer.advice}; ${probeHint}` : answer.advice;
    return [finding('INFO', message, { fix })];
  }
  return [finding('INFO', `${answer.text}, and its timers start again when it restarts`)];
}

/** Checks that there is one installation, as far as kube-controller-manager leaves the work to it. */
function ownFindings(evictors: Evictors): readonly Finding[] {
  const finding = findingsOf('overlap');
  const acting = actingIn(evictors);
  const taintmgr = { ...evictors.taintmgr, evidence: acting };
  if (acting.length > 1) {
    const message = `${acting.length} installations of taintmgr-controller ${verdictText(taintmgr, 'run')}`;
    return [finding('WARN', message, { fix: 'keep one of them' })];
  }
  const verdict = upstreamVerdict(evictors);
  const message = `taintmgr-controller ${verdictText(taintmgr, 'runs')}`;
  if (verdict.kind !== 'unknown') return [finding('OK', message)];
  const doubt = `kube-controller-manager: ${verdictText(verdict)}`;
  const fix = `${wayToKnow(verdict.evidence, 'kube-controller-manager')}; ${probeHint}`;
  return [finding('WARN', `${message}; ${doubt}`, { fix })];
}

/**
 * The installations that evict for taints, as far as that is credible; one that does not publish its
 * controllers may evict.
 */
function actingIn({ taintmgr }: Evictors): readonly Evidence[] {
  return taintmgr.evidence.filter((one) => {
    if (one.kind === 'published') return one.controllers?.includes(taintController) !== false;
    if (one.kind !== 'lease' || one.life !== 'alive' || one.isUnproven) return false;
    return one.lease.controllers?.includes(taintController) !== false;
  });
}

/** Declarations that are not true, and claims by users who may not evict. */
function doubtFindings({ evictors }: Survey): readonly Finding[] {
  const finding = findingsOf('overlap');
  const { evidence } = upstreamVerdict(evictors);
  const against = contradictionText(evidence);
  const fix =
    'correct --kube-controller-manager-runs of taintmgr-controller, or the flags of kube-controller-manager';
  const forged = [...evidence, ...evictors.taintmgr.evidence].flatMap((one) => {
    if (one.kind === 'pod' && one.isUnproven) {
      return [
        `pod ${one.namespace}/${one.name} is labelled as kube-controller-manager, and is not trusted: no node of the control plane runs it`,
      ];
    }
    if (one.kind !== 'lease' || one.life !== 'alive' || !one.isUnproven) return [];
    const { namespace, name, holder } = one.lease;
    return [
      `lease ${namespace}/${name} of ${holder} is not trusted: any client that may write leases there can forge it, and no TaintManager names its holder`,
    ];
  });
  return [
    ...(against === null ? [] : [finding('WARN', against, { fix })]),
    ...forged.map((message) => finding('WARN', message, { fix: 'find out who wrote it' })),
  ];
}

/** A controller that used to run, or that runs with this work switched off; null: there is none. */
function tracesOf(evictors: Evictors): string | null {
  const verdicts = [
    ['kube-controller-manager', upstreamVerdict(evictors)],
    ['taintmgr-controller', evictors.taintmgr],
  ] as const;
  const isTrace = ({ kind }: Evidence): boolean => {
    return kind === 'lease' || kind === 'pod' || kind === 'published';
  };
  const lines = verdicts
    .filter(([, { evidence }]) => evidence.some(isTrace))
    .map(([name, verdict]) => `${name}: ${verdictText(verdict)}`);
  return lines.length === 0 ? null : lines.join('; ');
}

/** The remedy for a condition; left out: the condition names it. */
const fixes: Readonly<Record<string, string>> = {
  ClockSkew: 'set the clock of the machine that the controller runs on',
};

/** Checks the published status of leaders: their conditions, and the state of their takeover. */
export async function checkControllers(
  { at }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const managers = await new ClusterReader(client).taintManagers();
  return managers.filter(({ isResigned }) => !isResigned).flatMap((one) => findingsIn(one, at));
}

function findingsIn(manager: TaintManager, at: Instant): readonly Finding[] {
  const finding = findingsOf('controllers');
  const about = `taintmanager/${manager.name}`;
  const { troubles, takeover, renewedAt } = manager;
  if (!isFresh(manager, at)) {
    const ago = renewedAt === null ? 'never' : `${formatDuration(Math.max(0, at - renewedAt))} ago`;
    const fix = 'see whether the controller runs: kubectl taintmgr status';
    return [finding('WARN', `its leader last wrote its status ${ago}`, { about, fix })];
  }
  const found = troubles
    .filter((text) => !text.startsWith('DryRun:'))
    .map((text) => finding('WARN', text, { about, fix: fixes[text.split(':', 1)[0] ?? ''] ?? '' }));
  const drift = (takeover?.drift ?? []).map((text) =>
    finding('WARN', `takeover: ${text}`, { about, fix: 'see kubectl taintmgr takeover status' }),
  );
  const isOff = takeover?.enabled === false;
  const off = 'takeover does not work: kube-controller-manager evicts as before';
  const all = [...(isOff ? [finding('FAIL', off, { about })] : []), ...drift, ...found];
  return all.length > 0 ? all : [finding('OK', 'the leader reports no problems', { about })];
}

const rights: readonly PodRight[] = ['delete pods', 'create pods/eviction'];

/**
 * Policies whose pods stay for ever, as the service account of the leader lacks a right; nothing where its
 * pod is not to be seen.
 */
export async function checkPolicies(
  { evictors, evictor }: Survey,
  { client }: Pick<Connection, 'client'>,
): Promise<readonly Finding[]> {
  const finding = findingsOf('policies');
  const reader = new ClusterReader(client);
  const earlier = [...(await checkActions(reader)), ...(await checkFollowed(reader))];
  const account = await leaderAccount(evictors, reader);
  if (account === null) return earlier;
  const { objects } = await readClusterPolicies(reader, Promise.resolve(evictor));
  const policies = objects.flatMap(({ kind, value }) => (kind === 'EvictionPolicy' ? [value] : []));
  const asked = rights.filter((right) => policies.some((one) => takes(one, right)));
  if (asked.length === 0) return earlier;
  const answers = await Promise.all(
    asked.map((right) => isAllowedTo(client, account, rightOf(right))),
  );
  if (answers.includes(null)) {
    const unseen = 'no permission to check the permissions of taintmgr-controller';
    return [...earlier, finding('INFO', unseen)];
  }
  const missing = asked.filter((_, index) => answers[index] === false);
  const findings = policies.flatMap((policy) =>
    missing
      .filter((right) => takes(policy, right))
      .map((right) => {
        const who = `serviceaccount ${account.name} -n ${account.namespace}`;
        const message = `action ${policy.action} needs a permission that ${who} does not have: ${right}; its pods stay`;
        const fix = podRightRemedies[right];
        return finding('FAIL', message, { about: `evictionpolicy/${policy.name}`, fix });
      }),
  );
  return orWell(
    finding,
    [...earlier, ...findings],
    'taintmgr-controller has the permissions that the actions of policies need',
  );
}

/** Policies of the cluster whose action has an earlier name. */
async function checkActions(reader: ClusterReader): Promise<readonly Finding[]> {
  const finding = findingsOf('policies');
  const path = `/apis/${policyApiVersion}/${policyKinds.EvictionPolicy.plural}`;
  const items = await reader.ifAllowed(() => reader.objectsIfServed(path));
  return (items ?? []).flatMap((item) => {
    const fix = actionHint(item);
    if (fix === null) return [];
    const { metadata } = item as { readonly metadata: ObjectMeta };
    const about = `evictionpolicy/${metadata.name}`;
    return [finding('WARN', 'Upstream is an earlier name', { about, fix })];
  });
}

/** Objects of the cluster that this version cannot follow, most likely those of a newer one. */
async function checkFollowed(reader: ClusterReader): Promise<readonly Finding[]> {
  const finding = findingsOf('policies');
  return (await readUnfollowed(reader)).map(({ about, faults, next: fix }) => {
    const message = `version ${version} cannot follow it: ${faults.join('; ')}`;
    return finding('WARN', message, { about, fix });
  });
}

function takes({ action }: EvictionPolicy, right: PodRight): boolean {
  return action !== null && actionRights[action].includes(right);
}

/** Reports the mode of the evicting controller and its settings that this plugin cannot read; nothing where none evicts. */
export async function checkSettings(
  { evictor }: Survey,
  { client }: Pick<Connection, 'client'>,
): Promise<readonly Finding[]> {
  const finding = findingsOf('settings');
  const { settings, asksBudgets } = evictor;
  if (!settings) return [];
  const policies = await readClusterPolicies(new ClusterReader(client), Promise.resolve(evictor));
  const modeText = settings.mode === null ? 'an unknown mode' : `--mode=${settings.mode}`;
  const budgets = asksBudgets === false ? ': PodDisruptionBudgets are not asked' : '';
  return [
    finding(budgets === '' ? 'OK' : 'INFO', `taintmgr-controller runs with ${modeText}${budgets}`),
    ...settings.unusable.map((text) => {
      const message = `taintmgr-controller runs with ${text}, which is not understood here and left out`;
      return finding('WARN', message, { fix: 'use a plugin of the version of the controller' });
    }),
    ...sourceNotes(policies, settings).map((text) => finding('INFO', text)),
  ];
}

/** The number of nodes that are named; the others are counted. */
const namesMax = 3;

/** Conditions and taints that no controller removes any more; nothing where there are none. */
export async function checkPressure(
  { nodes, at }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const left = pressureConditionTypes.flatMap((type) => leftBy(type, nodes ?? []));
  if (left.length === 0) return [];
  const managers = await new ClusterReader(client).taintManagers();
  return managers.some((manager) => evictsUnderPressure(manager, at)) ? [] : left;
}

function leftBy(type: PressureConditionType, nodes: readonly NodeFacts[]): readonly Finding[] {
  const [condition, key] = [ownConditionType(type), ownTaintKey(type)];
  const pressed = nodes.filter(({ node }) => {
    return node.conditions?.some((one) => one.type === condition && one.status === 'True');
  });
  const tainted = nodes.filter(({ node }) => node.taints.some((taint) => taint.key === key));
  const patch = { status: { conditions: [{ type: condition, $patch: 'delete' }] } };
  return [
    ...finding(`the condition ${condition}=True`, pressed, (names) => {
      return `kubectl patch nodes ${names} --subresource=status -p '${JSON.stringify(patch)}'`;
    }),
    ...finding(`the taint ${key}`, tainted, (names) => `kubectl taint nodes ${names} ${key}-`),
  ];
}

function finding(
  what: string,
  nodes: readonly NodeFacts[],
  fix: (names: string) => string,
): readonly Finding[] {
  if (nodes.length === 0) return [];
  const names = nodes.slice(0, namesMax).map(({ node }) => node.name);
  const more = nodes.length > namesMax ? ` and ${nodes.length - namesMax} more` : '';
  const message = `${what} stays on ${names.join(', ')}${more}: node-pressure-controller does not run, as far as TaintManagers show`;
  const chosen = more === '' ? names.map(shellWord).join(' ') : 'NAMES';
  return [findingsOf('pressure')('WARN', message, { fix: fix(chosen) })];
}
