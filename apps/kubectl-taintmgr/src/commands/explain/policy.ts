// Explains by which policies pods are evicted: explain policy.
import { formatTaint, type Taint } from '@taintmgr/core';
import {
  type EvictionPolicy,
  type ExplainedChoice,
  explainChoice,
  type LimitRule,
  type PolicyPart,
  type PolicyVerdict,
} from '@taintmgr/core/policy';
import { formatDuration } from '@taintmgr/core/time';
import { isHoldingPause } from '@taintmgr/k8s-adapter';
import { printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  apiVersion,
  evictorDocument,
  evictorText,
  hypotheticalNode,
  none,
  type Question,
  readQuestion,
  sourceNotes,
  taintDocument,
} from '@taintmgr/k8s-adapter/explain';
import { type PolicyObject, policyKinds } from '@taintmgr/k8s-adapter/kinds';
import {
  type ClusterPolicies,
  ClusterReader,
  type Evictor,
  type NodeFacts,
  type PodFacts,
  readClusterPolicies,
  readEvictor,
} from '@taintmgr/k8s-adapter/survey';
import { readPolicyFlag } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { type Answer, printAnswer, readFormat } from '../../render/printer.ts';
import {
  brokenText,
  type Column,
  renderColumns,
  renderFields,
  type TableOptions,
} from '../../render/table.ts';
import type { PolicyFlags } from './flags.ts';

/** `explain policy POD|NODE`: which EvictionPolicy counts, and why the others do not. */
export async function run(
  invocation: Invocation<PolicyFlags>,
  subject: string,
  name?: string,
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const question = readPolicyQuestion(name === undefined ? subject : `${subject}/${name}`);
  const assumed = readQuestion({ withTaint: flags.withTaint });
  const format = await readFormat(flags.output);
  const files = await readPolicyFlag(flags, output);
  return await withConnection(invocation, async ({ client, cluster }) => {
    const reader = new ClusterReader(client);
    const survey = await surveyPolicies(reader, question, cluster.namespace, { files, assumed });
    output.write(await printAnswer(policyAnswer(survey), format, flags.headers !== false, output));
    for (const warning of warningsOn(survey)) warn(output, printable(warning));
    for (const note of notesOn(survey)) output.err(`Note: ${printable(note)}`);
    return exitCode.done;
  });
}

/** The objects that could not be read; while a policy is wrong, taintmgr-controller holds all evictions. */
function warningsOn({ policies, refused }: PolicySurvey): readonly string[] {
  const wrong = policies.objects.flatMap(({ kind, value }) =>
    kind === 'EvictionPause' && isHoldingPause(value)
      ? [`${value.reason}; taintmgr-controller holds all evictions until it can be`]
      : [],
  );
  return [...wrong, ...refused.map((message) => `not everything could be read: ${message}`)];
}

/** Where policies come from, and who acts where that is not taintmgr-controller alone. */
function notesOn({ evictor, policies }: PolicySurvey): readonly string[] {
  const { settings } = evictor;
  return [...actorNotes(evictor), ...(settings ? sourceNotes(policies, settings) : [])];
}

function actorNotes(evictor: Evictor): readonly string[] {
  switch (evictor.name) {
    case 'taintmgr-controller':
      return [];
    case 'kube-controller-manager':
      return ['kube-controller-manager evicts here and ignores policies'];
    case 'both':
      return ['kube-controller-manager evicts here too and ignores policies'];
    default:
      return ['only taintmgr-controller knows policies, and it was not seen to act here'];
  }
}

/** The outcome of the policies for one pod and one taint. */
interface ChoiceRow {
  readonly taint: string;
  readonly namespace: string;
  readonly pod: string;
  readonly policy: string | null;
  readonly priority: number | null;
  readonly action: string | null;
  readonly why: string;
}

const ownSettings = "none counts: the controller's settings apply";

function policyAnswer(survey: PolicySurvey): Answer {
  const { question, pods } = survey;
  const isPod = question.kind === 'pod';
  const verdicts = pods.flatMap(verdictRows);
  const choices = pods.flatMap(choiceRows);
  const counting = new Set(choices.flatMap(({ policy }) => (policy === null ? [] : [policy])));
  return {
    document: documentOf(survey),
    rows: isPod ? verdicts : choices,
    names: Array.from(counting, (name) => `evictionpolicy.taintmgr.dev/${name}`),
    table: (options) => {
      const body = isPod
        ? podTable(verdicts, choices, options)
        : renderColumns(choiceColumns, choices, options);
      const count = isPod ? verdicts.length + choices.length : choices.length;
      const parts = count === 0 ? [emptyText(survey)] : [body];
      return options.headers
        ? [headOf(survey, options), '', ...parts].join('\n')
        : parts.join('\n');
    },
  };
}

function verdictRows({ facts, taints }: PodChoices): readonly PolicyRow[] {
  return taints.flatMap((one) => rowsOf(one, facts.pod.namespace));
}

function choiceRows({ facts: { pod }, taints }: PodChoices): readonly ChoiceRow[] {
  return taints.map((one) => {
    const { counts, undecided } = one.choice;
    const rows = rowsOf(one, pod.namespace);
    const open = rows.find(({ policy }) => policy === undecided?.name);
    const counted = rows.find((row) => row.counts);
    return {
      taint: formatTaint(one.taint),
      namespace: pod.namespace,
      pod: pod.name,
      policy: counts?.name ?? null,
      priority: counts?.priority ?? null,
      action: counts?.action ?? null,
      why: open ? `${open.policy} ${open.why}` : (counted?.why ?? ownSettings),
    };
  });
}

function podTable(
  verdicts: readonly PolicyRow[],
  choices: readonly ChoiceRow[],
  options: TableOptions,
): string {
  const left = choices
    .filter(({ policy }) => policy === null)
    .map(({ taint, why }) => `${taint}: ${why}`);
  const table = verdicts.length === 0 ? [] : [renderColumns(verdictColumns, verdicts, options)];
  if (!options.headers) return table.join('\n');
  const lines = left.flatMap((line) => brokenText(line, options.width));
  return [...table, ...(table.length > 0 && left.length > 0 ? [''] : []), ...lines].join('\n');
}

const verdictColumns: readonly Column<PolicyRow>[] = [
  ['TAINT', ({ taint }) => taint],
  ['POLICY', ({ policy }) => policy],
  ['PRIORITY', ({ priority }) => String(priority)],
  ['ACTION', ({ action }) => action ?? none],
  [
    'COUNTS',
    ({ counts }) => (counts ? 'yes' : 'no'),
    { tone: ({ counts }) => (counts ? 'calm' : 'quiet') },
  ],
  ['WHY', ({ why }) => why, { below: 'why:' }],
];

const choiceColumns: readonly Column<ChoiceRow>[] = [
  ['TAINT', ({ taint }) => taint],
  ['NAMESPACE', ({ namespace }) => namespace],
  ['POD', ({ pod }) => pod],
  ['POLICY', ({ policy }) => policy ?? none],
  ['PRIORITY', ({ priority }) => (priority === null ? '-' : String(priority))],
  ['ACTION', ({ action }) => action ?? '-'],
  ['WHY', ({ why }) => why, { below: 'why:' }],
];

function headOf({ question, node, pods, evictor }: PolicySurvey, options: TableOptions): string {
  const [first] = pods;
  const isPod = question.kind === 'pod';
  const limits = isPod && first ? heldLimits(first).map(limitsText) : [];
  const taints = noExecuteTaints(node).map(formatTaint).join(', ');
  return renderFields(
    [
      ['Name', question.name],
      ...(isPod && first ? [['Namespace', first.facts.pod.namespace] as const] : []),
      ...(isPod ? [['Node', node?.node.name ?? none] as const] : []),
      ['Taints', taints || none],
      ['Evicted by', evictorText(evictor)],
      ...limits.map((text, index) => [index === 0 ? 'Limits' : '', text] as const),
    ],
    options,
  ).join('\n');
}

function emptyText({ node, pods, policies }: PolicySurvey): string {
  if (node === null) return 'The pod is on no node: no policy is asked.';
  if (noExecuteTaints(node).length === 0) {
    return 'The node has no NoExecute taint: no policy is asked. Ask about one with --with-taint KEY.';
  }
  if (pods.length === 0) return 'The node has no pods: no policy is asked.';
  return `${evictionPolicies(policies).length} policies`;
}

function documentOf(survey: PolicySurvey): object {
  const { question, node, pods, evictor } = survey;
  return {
    apiVersion,
    kind: 'PolicyExplanation',
    ...evictorDocument(evictor),
    subject: question,
    node: node?.node.name ?? null,
    pods: pods.map((one) => ({
      namespace: one.facts.pod.namespace,
      name: one.facts.pod.name,
      limits: heldLimits(one),
      taints: one.taints.map((each) => ({
        ...taintDocument(each.taint),
        counts: each.choice.counts?.name ?? null,
        undecided: each.choice.undecided?.name ?? null,
        policies: rowsOf(each, one.facts.pod.namespace).map(({ taint: _, ...row }) => row),
      })),
    })),
  };
}

/** The subject of the question. */
interface PolicyQuestion {
  readonly kind: 'pod' | 'node';
  readonly name: string;
}

/** The outcome of policies for a pod and one taint of its node. */
interface TaintChoice {
  readonly taint: Taint;
  readonly choice: ExplainedChoice;
}

interface PodChoices {
  readonly facts: PodFacts;
  readonly taints: readonly TaintChoice[];
}

interface PolicySurvey {
  readonly question: PolicyQuestion;
  /** Null: the pod is on no node that is there. */
  readonly node: NodeFacts | null;
  readonly pods: readonly PodChoices[];
  readonly policies: ClusterPolicies;
  readonly evictor: Evictor;
  readonly refused: readonly string[];
}

/** Throws UsageError for text that names neither a pod nor a node. */
function readPolicyQuestion(text: string): PolicyQuestion {
  const [, kind, name] = /^(?:([^/]*)\/)?([^/]+)$/s.exec(text) ?? [];
  if (name !== undefined) {
    if (kind === undefined || /^(pods?|po)$/.test(kind)) return { kind: 'pod', name };
    if (/^(nodes?|no)$/.test(kind)) return { kind: 'node', name };
  }
  throw new UsageError(`got ${JSON.stringify(text)}, want NAME, pod/NAME or node/NAME`);
}

/** Throws ApiError (NotFound), ConnectionError, and UsageError where policies may not be read. */
async function surveyPolicies(
  reader: ClusterReader,
  question: PolicyQuestion,
  namespace: string,
  { files, assumed }: { readonly files: readonly PolicyObject[]; readonly assumed: Question },
): Promise<PolicySurvey> {
  const read = await readPods(reader, question, namespace);
  const { pods } = read;
  const node = read.node && {
    ...read.node,
    node: hypotheticalNode(read.node.node, assumed, reader.now()),
  };
  const acting = reader.evictors().then((found) => readEvictor(found, reader, reader.now()));
  const [policies, evictor] = await Promise.all([
    readClusterPolicies(reader, acting, files),
    acting,
  ]);
  if (policies.hidden.includes('EvictionPolicy')) {
    const { plural } = policyKinds.EvictionPolicy;
    throw new UsageError(`which policy counts is unknown: no permission to list ${plural}`);
  }
  const chosen = pods.map((facts) => choicesOf(facts, node, policies));
  return { question, node, pods: chosen, policies, evictor, refused: reader.refused };
}

async function readPods(
  reader: ClusterReader,
  { kind, name }: PolicyQuestion,
  namespace: string,
): Promise<{ readonly node: NodeFacts | null; readonly pods: readonly PodFacts[] }> {
  if (kind === 'node') {
    const node = await reader.node(name);
    return { node, pods: await reader.podsOn([name]) };
  }
  const facts = await reader.pod(namespace, name);
  const { nodeName } = facts.pod;
  return { node: nodeName === '' ? null : await reader.nodeIfThere(nodeName), pods: [facts] };
}

/** The EvictionPolicies among the objects. */
function evictionPolicies({ objects }: ClusterPolicies): readonly EvictionPolicy[] {
  return objects.flatMap(({ kind, value }) => (kind === 'EvictionPolicy' ? [value] : []));
}

function choicesOf(facts: PodFacts, node: NodeFacts | null, policies: ClusterPolicies): PodChoices {
  const { pod } = facts;
  const namespace = policies.namespaces.find(({ name }) => name === pod.namespace);
  const subject = { pod, node: node?.node ?? null, namespaceLabels: namespace?.labels ?? null };
  const taints = noExecuteTaints(node).map((taint) => {
    return { taint, choice: explainChoice(evictionPolicies(policies), taint, subject) };
  });
  return { facts, taints };
}

function noExecuteTaints(node: NodeFacts | null): readonly Taint[] {
  return node?.node.taints.filter(({ effect }) => effect === 'NoExecute') ?? [];
}

/** A policy in the light of a pod and a taint. */
interface PolicyRow {
  readonly taint: string;
  readonly policy: string;
  readonly priority: number;
  readonly action: string | null;
  readonly counts: boolean;
  readonly verdict: PolicyVerdict['kind'] | 'counts';
  readonly why: string;
}

/** A policy that matches a pod, and the limits that it sets. */
interface HeldLimits {
  readonly policy: string;
  readonly limits: readonly LimitRule[];
}

/** The policy that counts first, the others in their order. */
function rowsOf(one: TaintChoice, namespace: string): readonly PolicyRow[] {
  const { counts, undecided, others } = one.choice;
  const all = others.map((one) => one.policy);
  const actionOf = (policy: EvictionPolicy) => ({
    taint: formatTaint(one.taint),
    policy: policy.name,
    priority: policy.priority,
    action: policy.action,
  });
  return [
    ...(counts
      ? [{ ...actionOf(counts), counts: true, verdict: 'counts' as const, why: countsText(one) }]
      : []),
    ...others.map(({ policy, why }) => {
      const before = all.find(({ name }) => 'by' in why && name === why.by) ?? counts;
      const text =
        policy === undecided
          ? `${verdictText(why, policy, before, namespace)}: undecided, the pod stays`
          : verdictText(why, policy, before, namespace);
      return { ...actionOf(policy), counts: false, verdict: why.kind, why: text };
    }),
  ];
}

function countsText({ choice: { counts, others } }: TaintChoice): string {
  const isTie = others.some(
    ({ policy, why }) => why.kind === 'outranked' && policy.priority === counts?.priority,
  );
  return isTie
    ? 'counts: of those that match with the highest priority the first by name'
    : 'counts: highest priority of those that match';
}

/** The reason why a policy does not count. `before`: the one that goes before it, where one does. */
export function verdictText(
  verdict: PolicyVerdict,
  policy: EvictionPolicy,
  before: EvictionPolicy | null,
  namespace: string,
): string {
  switch (verdict.kind) {
    case 'notMatched':
      return `does not match: ${fieldOf(verdict.part, policy)}`;
    case 'outranked':
      return `matches; ${verdict.by} (priority ${before?.priority ?? '?'}) goes before`;
    case 'onlyLimits':
      return 'matches; has no action, only limits';
    case 'unknownNamespace':
      return `asks for labels of namespace ${namespace}, which are not known`;
  }
}

/** The name of a part in manifests. */
function fieldOf(part: PolicyPart, { match }: EvictionPolicy): string {
  switch (part) {
    case 'taints':
    case 'podPriority':
      return part;
    case 'nodes':
      return 'nodeSelector';
    case 'pods':
      return 'podSelector';
    case 'namespaces': {
      const { names = [], selector = null } = match.namespaces ?? {};
      if (selector === null) return 'namespaces';
      return names.length === 0 ? 'namespaceSelector' : 'namespaces or namespaceSelector';
    }
  }
}

/** The limits of every policy that matches the pod for one of the taints. */
function heldLimits({ taints }: PodChoices): readonly HeldLimits[] {
  const matching = taints.flatMap(({ choice: { counts, others } }) => [
    ...(counts ? [counts] : []),
    ...others
      .filter(({ why }) => why.kind === 'outranked' || why.kind === 'onlyLimits')
      .map(({ policy }) => policy),
  ]);
  return [...new Set(matching)]
    .filter(({ limits }) => limits.length > 0)
    .map(({ name, limits }) => ({ policy: name, limits }));
}

/** `zones: per zone at most 20 % within 10m` */
function limitsText({ policy, limits }: HeldLimits): string {
  return `${policy}: ${limits.map(limitText).join('; ')}`;
}

function limitText({ per, name, podsPerSecond, percent, pods, windowMs }: LimitRule): string {
  const scope = per === 'total' ? 'in total' : `per ${per}`;
  const within = windowMs === undefined ? '' : ` within ${formatDuration(windowMs)}`;
  const most = [
    ...(podsPerSecond === undefined ? [] : [`${podsPerSecond} pods a second`]),
    ...(percent === undefined ? [] : [`${percent} %${within}`]),
    ...(pods === undefined ? [] : [`${pods} pods${within}`]),
  ];
  return `${scope}${name === undefined ? '' : ` ${name}`} at most ${most.join(', ')}`;
}
