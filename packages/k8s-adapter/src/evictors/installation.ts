// Reads what the leader of a taintmgr-controller publishes, as far as it says who evicts here.

import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import type { TaintManagerStatus } from '../kinds/taint-manager.ts';
import { type Duty, duties } from './verdict.ts';

/** What one installation says of itself. Who may write it is an administrator. */
export interface Installation {
  /** Of its TaintManager. */
  readonly name: string;
  readonly leader: string;
  /** Since when it leads, and when it last said so; null: it does not say. */
  readonly startedAt: Instant | null;
  readonly renewedAt: Instant | null;
  /** Whether it said at the end that it stopped leading. */
  readonly isResigned: boolean;
  /** Those that run. */
  readonly controllers: readonly string[];
  /** What it has seen of others who evict, in a dry run; null: it keeps no score. */
  readonly shadow: object | null;
  /** What kube-controller-manager runs of its work, as its administrator says; null: nobody says. */
  readonly declared: readonly Duty[] | null;
  /** What it has seen kube-controller-manager do for taints, beyond doubt; null: nothing. */
  readonly sees: string | null;
}

/** The flag by which an administrator says what kube-controller-manager runs. */
export const declaringFlag = 'kube-controller-manager-runs';

/** What evicts for taints, among the controllers that run. */
export const taintController = 'taint-eviction-controller';

/** That another program evicts for taints, as its marks on pods of several nodes show. */
export const evictedByOther = { type: 'EvictedByOther', reason: 'SeveralNodes' } as const;

/** It writes every 10 s: so long after the last time nobody knows whether it still runs. */
const freshMs: Millis = 30_000;

/** Whether it leads, as far as its heartbeat shows. */
export function isFresh(
  { renewedAt, isResigned }: Pick<Installation, 'renewedAt' | 'isResigned'>,
  now: Instant,
): boolean {
  return !isResigned && renewedAt !== null && now - renewedAt < freshMs;
}

/** Reads the status of the TaintManager of this name. */
export function installationOf(name: string, status: TaintManagerStatus): Installation {
  const { leader = '', startedAt, renewTime, settings = {}, controllers = [] } = status;
  const { conditions = [], shadow = null } = status;
  const isTrue = conditions.filter((one) => one.status === 'True');
  const seen = isTrue.find(
    ({ type, reason }) => type === evictedByOther.type && reason === evictedByOther.reason,
  );
  return {
    ...{ name, leader, controllers, shadow },
    startedAt: startedAt === undefined ? null : parseTime(startedAt),
    renewedAt: renewTime === undefined ? null : parseTime(renewTime),
    isResigned: conditions.some(({ type, status: is }) => type === 'Leading' && is === 'False'),
    declared: declaredIn(settings[declaringFlag] ?? unknown),
    sees: seen?.message ?? null,
  };
}

const unknown = 'unknown';
const none = 'none';

/** Reads what a declaration says; null: nothing, or what cannot be read. */
export function declaredIn(text: string): readonly Duty[] | null {
  if (text === unknown) return null;
  if (text === none) return [];
  const names = text.split(',').map((name) => name.trim());
  const known = duties.filter((duty) => names.includes(duty));
  return known.length > 0 && known.length === new Set(names).size ? known : null;
}

/** How a declaration is written. */
export function declarationText(declared: readonly Duty[] | null): string {
  if (declared === null) return unknown;
  return declared.length === 0 ? none : declared.join(',');
}
