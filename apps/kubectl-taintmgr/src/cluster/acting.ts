import { type Instant, parseTime } from '@taintmgr/core';
import type { LeaseObject } from './objects.ts';
import type { ClusterReader } from './reader.ts';

/** A controller whose lease tells whether it runs. */
export type Actor =
  | { readonly kind: 'runs'; readonly holder: string; readonly renewedAt: Instant }
  /** Its lease was held once and is renewed no more. */
  | { readonly kind: 'silent'; readonly holder: string; readonly renewedAt: Instant }
  /** It has no lease: it does not run, or elects no leader. */
  | { readonly kind: 'absent' }
  /** We have no right to see its lease. */
  | { readonly kind: 'unknown' };

/** Who may be evicting pods of tainted nodes. */
export interface Acting {
  /** kube-controller-manager; whether its taint eviction is switched off nobody can see. */
  readonly upstream: Actor;
  /** taintmgr-controller. */
  readonly taintmgr: Actor;
}

const leaseNamespace = 'kube-system';
const defaultLeaseSeconds = 15;

/** Looks at the leases of the controllers that evict. */
export async function readActing(reader: ClusterReader, now: Instant): Promise<Acting> {
  const [upstream, taintmgr] = await Promise.all(
    ['kube-controller-manager', 'taintmgr-controller'].map((name) =>
      reader.lease(leaseNamespace, name),
    ),
  );
  return { upstream: actor(upstream, now), taintmgr: actor(taintmgr, now) };
}

function actor(lease: LeaseObject | 'forbidden' | null | undefined, now: Instant): Actor {
  if (lease === 'forbidden') return { kind: 'unknown' };
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds } = lease?.spec ?? {};
  const renewedAt = parseTime(renewTime);
  if (holderIdentity === '' || renewedAt === null) return { kind: 'absent' };
  const patience = 2 * (leaseDurationSeconds ?? defaultLeaseSeconds) * 1000;
  const kind = now - renewedAt > patience ? 'silent' : 'runs';
  return { kind, holder: holderIdentity, renewedAt };
}
