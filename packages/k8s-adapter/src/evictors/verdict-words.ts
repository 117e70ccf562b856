// Says who else evicts here, in the same words for every command and log.
import type { OtherEvictors } from '@taintmgr/core/drain';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import {
  type Duty,
  type DutyVerdict,
  declaringFlag,
  type Evictors,
  type Evidence,
  type LeaseSight,
} from './judge.ts';

/** The ones who would evict the pods of a NoExecute taint here, beside the one who asks. */
export type TaintEvictors =
  /** A program does: `text` names it, `advice` says what to do about it. */
  | {
      readonly kind: 'acts';
      readonly agent: Agent;
      readonly text: string;
      readonly advice: string;
    }
  /** No program does, by proof or declaration, as `text` says. */
  | { readonly kind: 'nobody'; readonly text: string }
  /** A program may: `text` names it, or says why it is unknown; `advice` how to find out. */
  | {
      readonly kind: 'unknown';
      readonly agent: Agent;
      readonly text: string;
      readonly advice: string;
    };

type Agent = 'kube-controller-manager' | 'taintmgr-controller';

const duty: Duty = 'taint-eviction-controller';
const upstream: Agent = 'kube-controller-manager';
const ours: Agent = 'taintmgr-controller';
const forTaints = 'for NoExecute taints here';

/**
 * The answer for callers that want to put a NoExecute taint on a node and keep budgets: with `acts`
 * and with `unknown` another program may take its pods at once. Texts are clauses without a full
 * stop.
 */
export function taintEvictors({ upstream: manager, taintmgr }: Evictors): TaintEvictors {
  const verdict = manager[duty];
  if (verdict.kind === 'acts') {
    const text = `${upstream} (${verdict.who}) evicts ${forTaints}, without asking PDBs`;
    return { kind: 'acts', agent: upstream, text, advice: switchOff([duty], verdict.evidence) };
  }
  if (taintmgr.kind === 'acts') {
    const text = `${ours} (${taintmgr.who}) evicts ${forTaints}, by its own policies`;
    return { kind: 'acts', agent: ours, text, advice: 'stop taintmgr-controller' };
  }
  if (verdict.kind === 'unknown') {
    const why = whyUnknown(verdict.evidence);
    const text =
      verdict.who === null
        ? `whether ${upstream} evicts ${forTaints} is unknown: ${why}`
        : `${upstream} (${verdict.who}) may evict ${forTaints}, without asking PDBs: ${why}`;
    return {
      kind: 'unknown',
      agent: upstream,
      text,
      advice: wayToKnow(verdict.evidence, upstream),
    };
  }
  if (taintmgr.kind === 'unknown') {
    const text = `whether ${ours} evicts ${forTaints} is unknown: ${whyUnknown(taintmgr.evidence)}`;
    return { kind: 'unknown', agent: ours, text, advice: wayToKnow(taintmgr.evidence, ours) };
  }
  const text = `no controller here evicts for NoExecute taints${basisText(verdict.evidence)}`;
  return { kind: 'nobody', text };
}

/**
 * The answer for the engine, which puts NoExecute taints on nodes only where it is known that no
 * other program acts. A lease that proves nothing does not count here: the leader acts beside it
 * anyway, and a tenant must not stop a drain.
 */
export function otherEvictors(evictors: Evictors): OtherEvictors {
  const { taintmgr } = evictors;
  const isDoubted = taintmgr.evidence.some((one) => {
    const isUncertain = one.kind === 'lease' && one.life === 'uncertain' && !one.isUnproven;
    return one.kind === 'forbidden' || isUncertain;
  });
  const isClaim = taintmgr.kind === 'unknown' && !isDoubted;
  const others = { kind: 'doesNotAct', evidence: taintmgr.evidence } as const;
  const answer = taintEvictors(isClaim ? { ...evictors, taintmgr: others } : evictors);
  if (answer.kind === 'nobody') return { kind: 'nobody', text: '', advice: '' };
  return { kind: answer.kind, text: answer.text, advice: answer.advice };
}

/**
 * The words of a line about a controller behind its name, e.g. `evicts (cp_1, renewed 2s ago)`;
 * `acts` is the verb.
 */
export function verdictText(verdict: DutyVerdict, acts = 'evicts'): string {
  const { evidence } = verdict;
  switch (verdict.kind) {
    case 'acts':
      return `${acts} ${signsOf(evidence)}`;
    case 'doesNotAct':
      return absenceText(evidence);
    case 'unknown':
      return verdict.who === null
        ? `unknown (${whyUnknown(evidence)})`
        : `may evict ${signsOf(evidence)}: ${whyUnknown(evidence)}`;
  }
}

/** Tells how to make kube-controller-manager leave these duties to others. */
export function switchOff(names: readonly Duty[], evidence: readonly Evidence[]): string {
  const gate = evidence
    .flatMap((one) => (one.kind === 'pod' && one.says !== null ? [one.says] : []))
    .find((says) => says.startsWith('--feature-gates='));
  const without = `--controllers=*,${names.map((name) => `-${name}`).join(',')}`;
  return gate === undefined
    ? `start it with ${without}`
    : `start it with ${without} and without ${gate}`;
}

/** The reason why a verdict is `unknown`. */
export function whyUnknown(evidence: readonly Evidence[]): string {
  const reasons = evidence.flatMap(reasonsFor);
  const hints = evidence.flatMap(hintsOf);
  return [...(reasons.length > 0 ? reasons : [absenceReason(evidence)]), ...hints].join('; ');
}

function absenceReason(evidence: readonly Evidence[]): string {
  const lease = evidence.find((one) => one.kind === 'lease');
  if (lease?.kind !== 'lease') return 'it shows neither a pod nor a lease';
  return lease.life === 'alive'
    ? 'its flags cannot be seen, as it has no pod here'
    : 'it shows no pod, and its lease is not renewed';
}

/** The words of an unverified writer. */
function hintsOf(one: Evidence): readonly string[] {
  if (one.kind !== 'events') return [];
  return [`Events of ${duty} say that it has evicted, last ${ago(one.age)}`];
}

function reasonsFor(one: Evidence): readonly string[] {
  switch (one.kind) {
    case 'forbidden':
      return [`no permission to ${one.right}`];
    case 'embedded':
      return [`the server of ${one.version} runs it without a pod, and may do so without a lease`];
    case 'pod':
      return podReasons(one);
    case 'lease':
      return leaseReasons(one);
    case 'declared':
      return one.runs ? [`${one.by} says that it does`] : [];
    default:
      return [];
  }
}

function podReasons({
  namespace,
  name,
  says,
  runs,
  isUnproven,
}: Extract<Evidence, { kind: 'pod' }>): readonly string[] {
  const pod = `pod ${namespace}/${name}`;
  if (isUnproven) return [`${pod} proves nothing: no node of the control plane runs it`];
  const flags = says === null ? 'flags' : says;
  if (runs === undefined) return [`${flags} of ${pod} leaves it open`];
  return runs ? [] : [`${flags} of ${pod} say that it does not`];
}

function leaseReasons({
  lease,
  life,
  isUnproven,
}: Extract<Evidence, { kind: 'lease' }>): readonly string[] {
  if (life === 'uncertain') return [`lease ${nameOf(lease)} shows no sign of life`];
  if (life !== 'alive' || !isUnproven) return [];
  return [
    `lease ${nameOf(lease)} (${lease.holder}) proves nothing: any client that may write leases there can write ` +
      'it, and no TaintManager names its holder',
  ];
}

/** The proof that kube-controller-manager does not do a duty. */
function basisText(evidence: readonly Evidence[]): string {
  const pod = evidence.find((one) => one.kind === 'pod' && !one.isUnproven);
  if (pod?.kind === 'pod') return ` (${pod.says} of pod ${pod.namespace}/${pod.name})`;
  const declared = evidence.find((one) => one.kind === 'declared');
  if (declared?.kind === 'declared') return ` (as ${declared.by} says)`;
  const probe = evidence.find((one) => one.kind === 'probe');
  return probe?.kind === 'probe' ? ` (a probe pod was left alone ${ago(probe.age)})` : '';
}

/**
 * The difference between the words of an administrator and the sight; null: none. Events may be of
 * any client that may write some, and are named nevertheless.
 */
export function contradictionText(evidence: readonly Evidence[]): string | null {
  const declared = evidence.find((one) => one.kind === 'declared');
  if (declared?.kind !== 'declared') return null;
  const against = evidence.flatMap((one) => signAgainst(one, declared.runs));
  if (against.length === 0) return null;
  const does = declared.runs ? 'does this work' : 'does not do this work';
  return `${declared.by} says that kube-controller-manager ${does}, but ${against.join(', and ')}`;
}

function signAgainst(one: Evidence, isDeclared: boolean): readonly string[] {
  switch (one.kind) {
    case 'seen':
      return isDeclared ? [] : [one.text];
    case 'probe':
      if (one.evicted === isDeclared) return [];
      return [`a probe pod was ${one.evicted ? 'evicted' : 'left alone'} ${ago(one.age)}`];
    case 'pod': {
      if (one.isUnproven || one.runs === undefined || one.runs === isDeclared) return [];
      const what = one.runs ? 'runs it' : 'does not run it';
      return [`pod ${one.namespace}/${one.name} ${what} (${one.says ?? 'by default'})`];
    }
    case 'events':
      return isDeclared ? [] : hintsOf(one);
    default:
      return [];
  }
}

/** Says what helps to find out who acts. */
export function wayToKnow(evidence: readonly Evidence[], agent: Agent): string {
  const rights = evidence.flatMap((one) => (one.kind === 'forbidden' ? [one.right] : []));
  if (rights.length > 0) return `grant the permission to ${rights.join(' and to ')}`;
  if (agent === ours) return 'find out who wrote it';
  return `start it with --controllers=*,-${duty} and declare that to ${ours}: --${declaringFlag}=node-lifecycle-controller`;
}

function absenceText(evidence: readonly Evidence[]): string {
  const pod = evidence.find((one) => one.kind === 'pod' && !one.isUnproven);
  if (pod?.kind === 'pod') return `runs, does not evict for taints (${pod.says})`;
  const declared = evidence.find((one) => one.kind === 'declared');
  if (declared?.kind === 'declared') return `does not evict for taints (as ${declared.by} says)`;
  const probe = evidence.find((one) => one.kind === 'probe');
  if (probe?.kind === 'probe') return `did not evict a probe pod ${ago(probe.age)}`;
  const lease = evidence.find((one) => one.kind === 'lease');
  if (lease?.kind === 'lease') {
    if (lease.life === 'released') return `stopped (lease ${nameOf(lease.lease)} was given back)`;
    if (lease.life === 'alive')
      return `runs other controllers (${lease.lease.controllers?.join(', ')})`;
    return `stale (${lease.lease.holder}, last renewed ${ago(lease.age)})`;
  }
  return 'not detected (no leader election lease)';
}

/** `(cp_1, renewed 2s ago)`, `(pod kube-system/kcm-cp, no leader election lease)` */
function signsOf(evidence: readonly Evidence[]): string {
  const pods = evidence.flatMap((one) => (one.kind === 'pod' && !one.isUnproven ? [one] : []));
  const pod = pods.find(({ runs }) => runs) ?? pods[0];
  const signs = evidence.flatMap((one): readonly string[] => {
    switch (one.kind) {
      case 'lease':
        return one.life === 'alive' && !one.isUnproven ? [aliveText(one)] : [];
      case 'noLease':
        return ['no leader election lease'];
      case 'pod':
        return one === pod ? [`pod ${one.namespace}/${one.name}`] : [];
      case 'published':
        return [`${one.leader}, TaintManager ${one.name}, heartbeat ${ago(one.age)}`];
      case 'seen':
        return [one.text];
      case 'probe':
        return one.evicted ? [`evicted a probe pod ${ago(one.age)}`] : [];
      case 'declared':
        return one.runs ? [`as ${one.by} says`] : [];
      default:
        return [];
    }
  });
  return `(${signs.join('; ')})`;
}

function aliveText({ lease, age }: Extract<Evidence, { kind: 'lease' }>): string {
  const elsewhere = lease.namespace === 'kube-system' ? '' : `, lease ${nameOf(lease)}`;
  return `${lease.holder}${elsewhere}, renewed ${ago(age)}`;
}

function nameOf({ namespace, name }: Pick<LeaseSight, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

function ago(age: Millis | null): string {
  return age === null ? 'at an unknown time' : `${formatDuration(Math.max(0, age))} ago`;
}
