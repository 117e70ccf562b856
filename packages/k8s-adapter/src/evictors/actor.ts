// Who acts on NoExecute taints here: by whose rules, and from which timers, pods go.
import type { Instant } from '@taintmgr/core/time';
import type { DutyVerdict, Evictors, Evidence } from './verdict.ts';

const managerName = 'kube-controller-manager';
const ourName = 'taintmgr-controller';

/** The one whose rules count, as far as leases and pods show. */
export interface Actor {
  /** `both`: whoever comes first; `unknown`: nobody can tell, and somebody may. */
  readonly name: typeof managerName | typeof ourName | 'both' | 'nobody' | 'unknown';
  /** By whose rules pods go, or would. */
  readonly rules: typeof managerName | typeof ourName | 'both';
  /** What shows it, e.g. `lease kube-system/kube-controller-manager`. */
  readonly source: string;
  /** Whether that is proof. */
  readonly sure: boolean;
  /**
   * Since when kube-controller-manager has been at it: its timers are in its memory, so none is
   * older. Null: not known, or it does not act.
   */
  readonly upstreamSince: Instant | null;
  /**
   * Tolerations with Lt and Gt count for kube-controller-manager, as its flags show; left out: they do not,
   * or that is not to be seen.
   */
  readonly comparesNumbers?: true;
}

/** Who of kube-controller-manager and taintmgr-controller acts, or which of them may. */
export function actorOf({ upstream, taintmgr }: Evictors): Actor {
  const manager = upstream['taint-eviction-controller'];
  const source = sourceText([...manager.evidence, ...taintmgr.evidence]);
  const compares = manager.evidence.some((one) => one.kind === 'pod' && one.comparesNumbers);
  const seen = { source, ...(compares && { comparesNumbers: true as const }) };
  const byManager = { rules: managerName, ...seen, upstreamSince: sinceOf(manager) } as const;
  const byOurs = { rules: ourName, ...seen, upstreamSince: null } as const;
  if (manager.kind === 'acts' && taintmgr.kind === 'acts') {
    return { ...byManager, name: 'both', rules: 'both', sure: true };
  }
  if (manager.kind === 'acts') {
    return { ...byManager, name: managerName, sure: taintmgr.kind !== 'unknown' };
  }
  if (taintmgr.kind === 'acts') return { ...byOurs, name: ourName, sure: hasFlags(manager) };
  if (manager.kind === 'unknown') {
    return { ...byManager, name: mayWell(manager) ? managerName : 'unknown', sure: false };
  }
  if (taintmgr.kind === 'unknown') return { ...byOurs, name: 'unknown', sure: false };
  return { ...byOurs, name: 'nobody', sure: hasFlags(manager) };
}

/** Only what its own flags say proves that it does not act. */
function hasFlags({ kind, evidence }: DutyVerdict): boolean {
  return kind === 'doesNotAct' && evidence.some((one) => one.kind === 'pod');
}

/** It lives, and most of its kind do this work: its flags alone are not to be seen. */
function mayWell(verdict: Extract<DutyVerdict, { kind: 'unknown' }>): boolean {
  return verdict.who !== null || verdict.evidence.some(({ kind }) => kind === 'embedded');
}

/** The later of becoming the leader and, for one that is seen without a lease, of its start. */
function sinceOf({ kind, evidence }: DutyVerdict): Instant | null {
  if (kind === 'doesNotAct') return null;
  const leases = evidence.flatMap((one) =>
    one.kind === 'lease' && one.life === 'alive' ? [one.lease.acquiredAt] : [],
  );
  const starts = evidence.flatMap((one) => (one.kind === 'pod' ? [one.startedAt] : []));
  const known = (leases.length > 0 ? leases : starts).filter((at) => at !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

function sourceText(evidence: readonly Evidence[]): string {
  const shown = evidence.flatMap((one): readonly string[] => {
    switch (one.kind) {
      case 'lease':
        return one.life === 'alive' ? [`lease ${one.lease.namespace}/${one.lease.name}`] : [];
      case 'pod':
        return [`pod ${one.namespace}/${one.name}`];
      case 'published':
        return [`TaintManager ${one.name}`];
      case 'embedded':
        return [`version ${one.version}`];
      case 'forbidden':
        return [`no permission to ${one.right}`];
      default:
        return [];
    }
  });
  return shown.length > 0 ? shown.join('; ') : 'leases and pods';
}
