import {
  contradictionText,
  type Duty,
  type DutyVerdict,
  declarationText,
  declaringFlag,
  duties,
  type EventSubject,
  type Evictors,
  type Evidence,
  switchOff,
  verdictText,
  whyUnknown,
} from '@taintmgr/k8s-adapter';
import type { TaintManagerStatus } from '@taintmgr/k8s-adapter/kinds';
import type { ControllerName } from '../flags/controllers.ts';

/** Another program does the same work, or may: one line with what to do about it. */
export class OverlapError extends Error {
  override readonly name = 'OverlapError';
}

/** A case of another program that does the same work. */
export interface Overlap {
  /** The words for who does it, and what to do about it. */
  readonly message: string;
  /** False: no such program was seen, but some places may not be read. */
  readonly isSeen: boolean;
  /** The object it is known by, for an Event; null: nothing that an Event could be about. */
  readonly subject: EventSubject | null;
}

const grant = 'grant it, as the roles in deploy/ do';
const accept = 'or accept it with --allow-overlap';

/**
 * The ones of these controllers that another program runs too, or may; null: none, as far as is known.
 * Objects that others than administrators can write are no reason.
 */
export function overlapOf(
  { upstream, taintmgr }: Evictors,
  ours: readonly ControllerName[],
): Overlap | null {
  const shared = duties.filter((duty) => ours.includes(duty));
  const acting = shared.filter((duty) => upstream[duty].kind === 'acts');
  const [first] = acting;
  if (first !== undefined) return upstreamOverlap(acting, upstream[first]);
  if (taintmgr.kind === 'acts') {
    const message = `another taintmgr-controller (${taintmgr.who}) runs here; stop one of them, for two that see each other both stand by, ${accept}`;
    return { message, isSeen: true, subject: subjectOf(taintmgr.evidence) };
  }
  const doubtful = shared.filter((duty) => upstream[duty].kind === 'unknown');
  const [doubt] = doubtful;
  if (doubt !== undefined) return upstreamOverlap(doubtful, upstream[doubt]);
  if (!taintmgr.evidence.some(({ kind }) => kind === 'forbidden')) return null;
  const message = `whether another taintmgr-controller runs here is unknown: ${whyUnknown(taintmgr.evidence)}; ${grant}, ${accept}`;
  return { message, isSeen: false, subject: null };
}

/** Another program that evicts, for the status that is published. */
export type OtherEvictor = NonNullable<TaintManagerStatus['evictors']>[number];

/** The programs that do work of these controllers, or may, as far as they were seen. */
export function othersOf(
  { upstream, taintmgr }: Evictors,
  ours: readonly ControllerName[],
): readonly OtherEvictor[] {
  const seen = duties
    .filter((duty) => ours.includes(duty))
    .filter((duty) => 'who' in upstream[duty] && upstream[duty].who !== null);
  const [first] = seen;
  const manager = {
    name: 'kube-controller-manager',
    work: seen.join(' and '),
    evidence: first === undefined ? '' : verdictText(upstream[first]),
  };
  const other = { name: 'taintmgr-controller', evidence: verdictText(taintmgr, 'runs') };
  return [...(first === undefined ? [] : [manager]), ...(taintmgr.kind === 'acts' ? [other] : [])];
}

const deviceDuty: Duty = 'device-taint-eviction-controller';

function upstreamOverlap(shared: readonly Duty[], verdict: DutyVerdict): Overlap {
  const { evidence } = verdict;
  const who = 'who' in verdict ? verdict.who : null;
  const work = shared.join(' and ');
  const overlap = { isSeen: who !== null, subject: subjectOf(evidence) };
  if (verdict.kind === 'acts') {
    const cure = switchOff(shared, evidence);
    const doubt = contradictionText(evidence);
    const finding = `kube-controller-manager (${who}) runs ${work} too`;
    const message = doubt === null ? finding : `${finding}: ${doubt}`;
    return { ...overlap, message: `${message}; ${cure}, ${accept}` };
  }
  const why = whyUnknown(evidence);
  const finding =
    who === null
      ? `whether kube-controller-manager runs ${work} is unknown: ${why}`
      : `kube-controller-manager (${who}) may run ${work} too: ${why}`;
  const rights = evidence.some(({ kind }) => kind === 'forbidden');
  if (shared.includes(deviceDuty)) {
    // Older declarations do not name this controller, so that its absence cannot be declared.
    return {
      ...overlap,
      message: `${finding}; ${rights ? grant : switchOff(shared, [])}, ${accept}`,
    };
  }
  const left = duties.filter((duty) => duty !== deviceDuty && !shared.includes(duty));
  const declare = `declare that with --${declaringFlag}=${declarationText(left)}`;
  const cure = rights
    ? `${grant}, or ${declare}`
    : `${switchOff(shared, [])} and ${declare} (kubectl taintmgr doctor --probe shows what it runs)`;
  return { ...overlap, message: `${finding}; ${cure}, ${accept}` };
}

/** Leases of people who may not evict, which are not believed; null: there is none. */
export function claimText({ taintmgr }: Evictors): string | null {
  const claims = taintmgr.evidence.flatMap((one) => {
    if (one.kind !== 'lease' || one.life !== 'alive' || !one.isUnproven) return [];
    return [`${one.lease.namespace}/${one.lease.name} (${one.lease.holder})`];
  });
  if (claims.length === 0) return null;
  return (
    `lease ${claims.join(', ')} says that another taintmgr-controller runs there, and is not trusted: ` +
    'no TaintManager names its holder'
  );
}

function subjectOf(evidence: readonly Evidence[]): EventSubject | null {
  for (const one of evidence) {
    if (one.kind === 'lease' && !one.isUnproven) {
      const { namespace, name, uid } = one.lease;
      return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name, uid };
    }
    if (one.kind === 'pod' && !one.isUnproven) {
      const { namespace, name, uid } = one;
      return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    }
  }
  return null;
}
