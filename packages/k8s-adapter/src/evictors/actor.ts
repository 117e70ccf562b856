// Finds out who acts on NoExecute taints here: by whose rules, and from which timers, pods go.
import type { Instant } from '@taintmgr/core/time';
import type { DutyVerdict, Evictors, Evidence } from './judge.ts';

const managerName = 'kube-controller-manager';
const ourName = 'taintmgr-controller';

/** The one whose rules count, as far as is known. */
export interface Actor {
  /** `both`: the faster of the two; `unknown`: some program may, and it is unknown which. */
  readonly name: typeof managerName | typeof ourName | 'both' | 'nobody' | 'unknown';
  /** By whose rules pods go, or would. */
  readonly rules: typeof managerName | typeof ourName | 'both';
  /** The object that shows it, e.g. `lease kube-system/kube-controller-manager`. */
  readonly source: string;
  /** True if that is proof. */
  readonly sure: boolean;
  /**
   * Since when kube-controller-manager has been at it: its timers are in its memory, so none is
   * older. Null: not known, or it does not act.
   */
  readonly upstreamSince: Instant | null;
  /**
   * True if tolerations with Lt and Gt count for kube-controller-manager, as its flags show; left out: that is
   * not to be seen.
   */
  readonly comparesNumbers?: boolean;
}

/** The one of kube-controller-manager and taintmgr-controller that acts, or may. */
export function actorOf({ upstream, taintmgr }: Evictors): Actor {
  const manager = upstream['taint-eviction-controller'];
  const others = taintmgr.kind === 'doesNotAct' ? [] : taintmgr.evidence;
  const source = sourceText([...manager.evidence, ...others]);
  const compares = manager.evidence.flatMap((one) => {
    return one.kind === 'pod' && !one.isUnproven ? (one.comparesNumbers ?? []) : [];
  });
  const seen = { source, ...(compares.length > 0 && { comparesNumbers: compares.includes(true) }) };
  const byManager = { rules: managerName, ...seen, upstreamSince: sinceOf(manager) } as const;
  const byOurs = { rules: ourName, ...seen, upstreamSince: null } as const;
  if (manager.kind === 'acts' && taintmgr.kind === 'acts') {
    return { ...byManager, name: 'both', rules: 'both', sure: true };
  }
  if (manager.kind === 'acts') {
    return { ...byManager, name: managerName, sure: taintmgr.kind !== 'unknown' };
  }
  if (taintmgr.kind === 'acts')
    return { ...byOurs, name: ourName, sure: manager.kind === 'doesNotAct' };
  if (manager.kind === 'unknown') {
    return { ...byManager, name: mayWell(manager) ? managerName : 'unknown', sure: false };
  }
  if (taintmgr.kind === 'unknown') return { ...byOurs, name: 'unknown', sure: false };
  return { ...byOurs, name: 'nobody', sure: true };
}

/** The controller lives, and most of its kind do this work: only its flags cannot be seen. */
function mayWell(verdict: Extract<DutyVerdict, { kind: 'unknown' }>): boolean {
  const hints: readonly Evidence['kind'][] = ['embedded', 'events'];
  return verdict.who !== null || verdict.evidence.some(({ kind }) => hints.includes(kind));
}

/** The later of becoming the leader and, for one that is seen without a lease, of its start. */
function sinceOf({ kind, evidence }: DutyVerdict): Instant | null {
  if (kind === 'doesNotAct') return null;
  const leases = evidence.flatMap((one) =>
    one.kind === 'lease' && one.life === 'alive' ? [one.lease.acquiredAt] : [],
  );
  const starts = evidence.flatMap((one) => {
    return one.kind === 'pod' && !one.isUnproven ? [one.startedAt] : [];
  });
  const known = (leases.length > 0 ? leases : starts).filter((at) => at !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

function sourceText(evidence: readonly Evidence[]): string {
  const shown = evidence.flatMap((one): readonly string[] => {
    switch (one.kind) {
      case 'lease': {
        const isSign = one.life === 'alive' && !one.isUnproven;
        return isSign ? [`lease ${one.lease.namespace}/${one.lease.name}`] : [];
      }
      case 'pod':
        return one.isUnproven ? [] : [`pod ${one.namespace}/${one.name}`];
      case 'published':
        return [`TaintManager ${one.name}`];
      case 'seen':
        return [one.text];
      case 'events':
        return ['Events of taint-eviction-controller'];
      case 'probe':
        return ['probe'];
      case 'declared':
        return [`${one.by} says so`];
      case 'embedded':
        return [`version ${one.version}`];
      case 'forbidden':
        return [`no permission to ${one.right}`];
      default:
        return [];
    }
  });
  if (shown.length > 0) return shown.join('; ');
  const isAbsent = evidence.some(({ kind }) => kind === 'noLease');
  return isAbsent ? 'neither a pod nor a lease of kube-controller-manager' : 'leases and pods';
}
