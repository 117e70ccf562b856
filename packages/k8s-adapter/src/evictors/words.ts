// Who else evicts here, in the same words for every command and log.
import type { OtherEvictors } from '@taintmgr/core/drain';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Duty, DutyVerdict, Evictors, Evidence, LeaseSight } from './verdict.ts';

/** Who would evict the pods of a NoExecute taint here, beside the one who asks. */
export type TaintEvictors =
  /** Somebody does: `text` says who, `advice` what to do about it. */
  | {
      readonly kind: 'acts';
      readonly agent: Agent;
      readonly text: string;
      readonly advice: string;
    }
  /** As far as leases and pods show, which `text` says too. */
  | { readonly kind: 'nobody'; readonly text: string }
  /** Somebody may: `text` says who, or why that is not known; `advice` how to find out. */
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
const nobodyText = 'nobody here evicts for NoExecute taints (as far as leases and pods show)';

/**
 * The answer for those who want to put a NoExecute taint on a node and keep budgets: with `acts` and
 * with `unknown` somebody else may take its pods at once. Texts are clauses without a full stop.
 */
export function taintEvictors({ upstream: manager, taintmgr }: Evictors): TaintEvictors {
  const verdict = manager[duty];
  if (verdict.kind === 'acts') {
    const text = `${upstream} (${verdict.who}) evicts ${forTaints}, without asking PDBs`;
    return { kind: 'acts', agent: upstream, text, advice: switchOff([duty], verdict.evidence) };
  }
  if (taintmgr.kind === 'acts') {
    const text = `${ours} (${taintmgr.who}) evicts ${forTaints}, by its own policy`;
    return { kind: 'acts', agent: ours, text, advice: 'stop taintmgr-controller' };
  }
  if (verdict.kind === 'unknown') {
    const why = whyUnknown(verdict.evidence);
    const text =
      verdict.who === null
        ? `whether ${upstream} evicts ${forTaints} is unknown: ${why}`
        : `${upstream} (${verdict.who}) may evict ${forTaints}, without asking PDBs: ${why}`;
    return { kind: 'unknown', agent: upstream, text, advice: wayToKnow(verdict.evidence) };
  }
  if (taintmgr.kind === 'unknown') {
    const text = `whether ${ours} evicts ${forTaints} is unknown: ${whyUnknown(taintmgr.evidence)}`;
    return { kind: 'unknown', agent: ours, text, advice: wayToKnow(taintmgr.evidence) };
  }
  return { kind: 'nobody', text: nobodyText };
}

/**
 * Whether it is known that nobody evicts for a NoExecute taint: kube-controller-manager's own flags
 * say that it does not. That there is no sign of it proves nothing.
 */
export function isKnownNobody(evictors: Evictors): boolean {
  const { kind, evidence } = evictors.upstream[duty];
  const hasFlags = evidence.some((one) => one.kind === 'pod');
  return taintEvictors(evictors).kind === 'nobody' && kind === 'doesNotAct' && hasFlags;
}

/** The answer for the engine, which puts NoExecute taints on nodes only where it is known that nobody acts. */
export function otherEvictors(evictors: Evictors): OtherEvictors {
  const answer = taintEvictors(evictors);
  if (answer.kind !== 'nobody')
    return { kind: answer.kind, text: answer.text, advice: answer.advice };
  const isKnown = isKnownNobody(evictors);
  return { kind: isKnown ? 'nobody' : 'unknown', text: isKnown ? '' : unprovenText, advice: '' };
}

/** What to say where nobody was found to evict, and that is no proof. */
export const unprovenText: string =
  'whether kube-controller-manager evicts for NoExecute taints here is unknown: it shows neither a ' +
  'pod nor a lease';

/**
 * What one line about a controller says behind its name, e.g. `evicts (cp_1, renewed 2s ago)`; `acts`
 * is the word for what it does.
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

/** How to have kube-controller-manager leave these duties to somebody else. */
export function switchOff(names: readonly Duty[], evidence: readonly Evidence[]): string {
  const gate = evidence
    .flatMap((one) => (one.kind === 'pod' && one.says !== null ? [one.says] : []))
    .find((says) => says.startsWith('--feature-gates='));
  const without = `--controllers=*,${names.map((name) => `-${name}`).join(',')}`;
  return gate === undefined
    ? `start it with ${without}`
    : `start it with ${without} and without ${gate}`;
}

/** Why a verdict is `unknown`. */
export function whyUnknown(evidence: readonly Evidence[]): string {
  const reasons = evidence.flatMap((one): readonly string[] => {
    switch (one.kind) {
      case 'forbidden':
        return [`no permission to ${one.right}`];
      case 'embedded':
        return [
          `the server of ${one.version} runs it without a pod, and may do so without a lease`,
        ];
      case 'pod':
        return [`${one.says} of pod ${one.namespace}/${one.name} leaves it open`];
      case 'lease':
        return one.life === 'uncertain' ? [`lease ${nameOf(one.lease)} shows no sign of life`] : [];
      default:
        return [];
    }
  });
  return reasons.length > 0
    ? reasons.join('; ')
    : 'its flags cannot be seen, as it has no pod here';
}

/** How to find out who acts. */
function wayToKnow(evidence: readonly Evidence[]): string {
  const rights = evidence.flatMap((one) => (one.kind === 'forbidden' ? [one.right] : []));
  return rights.length > 0
    ? `grant the permission to ${rights.join(' and to ')}`
    : `see that it was started with --controllers=*,-${duty}`;
}

function absenceText(evidence: readonly Evidence[]): string {
  const pod = evidence.find((one) => one.kind === 'pod');
  if (pod) return `runs, does not evict for taints (${pod.says})`;
  const [lease] = evidence.filter((one) => one.kind === 'lease');
  if (lease?.life === 'released') return `stopped (lease ${nameOf(lease.lease)} was given back)`;
  if (lease) return `stale (${lease.lease.holder}, last renewed ${ago(lease.age)})`;
  const pods = evidence.some((one) => one.kind === 'noPod') ? ', no pod' : '';
  return `not detected (no leader election lease${pods})`;
}

/** `(cp_1, renewed 2s ago)`, `(pod kube-system/kcm-cp, no leader election lease)` */
function signsOf(evidence: readonly Evidence[]): string {
  const signs = evidence.flatMap((one): readonly string[] => {
    switch (one.kind) {
      case 'lease':
        return one.life === 'alive' ? [aliveText(one)] : [];
      case 'noLease':
        return ['no leader election lease'];
      case 'pod':
        return [`pod ${one.namespace}/${one.name}`];
      case 'published':
        return [`${one.leader}, TaintManager ${one.name}, heartbeat ${ago(one.age)}`];
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
