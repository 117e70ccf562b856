// What leaders of taintmgr-controller publish of themselves.
import { readManifest, type TaintManagerStatus } from '@taintmgr/core/policy';
import type { PublishedShadow } from '@taintmgr/core/shadow';
import { type Instant, type Millis, parseTime } from '@taintmgr/core/time';

/** What one installation says of itself. */
export interface TaintManager {
  readonly name: string;
  readonly leader: string;
  readonly version: string;
  /** Since when it leads, and when it last said so; null: it does not say. */
  readonly startedAt: Instant | null;
  readonly renewedAt: Instant | null;
  /** Whether it said at the end that it stopped leading. */
  readonly isResigned: boolean;
  /** By the names of their flags, or of fields of the configuration file. */
  readonly settings: Readonly<Record<string, string>>;
  /** Those that run. */
  readonly controllers: readonly string[];
  /** What it has seen of others who evict, in a dry run; null: it keeps no score. */
  readonly shadow: PublishedShadow | null;
  /** The conditions of something that is not as it should be, as it says. */
  readonly troubles: readonly string[];
  /** What it says of takeover; left out: nothing. */
  readonly takeover?: NonNullable<TaintManagerStatus['takeover']> | undefined;
}

export const taintManagersPath = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** It writes every 10 s: so long after the last time nobody knows whether it still runs. */
const freshMs: Millis = 30_000;

/** Reads what was published; objects without a status say nothing. */
export function taintManagersIn(objects: readonly unknown[]): readonly TaintManager[] {
  return objects.flatMap((object) => {
    const read = readManifest(object, 0);
    if (read.kind === 'refused' || read.value.kind !== 'TaintManager') return [];
    const { name, status } = read.value.value;
    if (status === null) return [];
    const { leader = '', version = '', startedAt, renewTime, settings = {} } = status;
    const { conditions = [], controllers = [], takeover, shadow = null } = status;
    return [
      {
        ...{ name, leader, version, settings, controllers, takeover, shadow },
        startedAt: startedAt === undefined ? null : parseTime(startedAt),
        renewedAt: renewTime === undefined ? null : parseTime(renewTime),
        isResigned: conditions.some(({ type, status: is }) => type === 'Leading' && is === 'False'),
        troubles: conditions
          .filter(({ type, status: is }) => type !== 'Leading' && is === 'True')
          .map(({ type, message }) => `${type}: ${message}`),
      },
    ];
  });
}

/** Whether it leads, as far as its heartbeat shows. */
export function isFresh({ renewedAt, isResigned }: TaintManager, now: Instant): boolean {
  return !isResigned && renewedAt !== null && now - renewedAt < freshMs;
}
