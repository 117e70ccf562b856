// The EvictionPause that the flags ask for.
import {
  type EvictionPause,
  type ManifestFault,
  policyApiVersion,
  readManifest,
} from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { readLabelSelector } from '../../cli/label-selector.ts';
import { UsageError } from '../../usage-error.ts';
import type { PauseFlags } from './flags.ts';

/** A pause as the API server is told of it, and as the engine reads it. */
export interface NewPause {
  readonly manifest: object;
  readonly pause: EvictionPause;
}

/** What the flags ask for as of `now`. Throws UsageError. */
export function newPause(name: string, flags: PauseFlags, now: Instant): NewPause {
  const {
    reason,
    readiness,
    deadlines,
    zones,
    taintKeys,
    namespaces,
    nodeSelector: selector,
  } = flags;
  const nodeSelector =
    selector === undefined ? undefined : readLabelSelector('--node-selector', selector);
  const scope = given({ zones, nodeSelector, taintKeys, namespaces });
  const until = endOf(flags, now);
  const manifest = {
    apiVersion: policyApiVersion,
    kind: 'EvictionPause',
    metadata: { name },
    spec: given({
      scope: Object.keys(scope).length > 0 ? scope : undefined,
      reason,
      readiness,
      deadlines,
      until: until === null ? undefined : formatTime(until),
    }),
  };
  const judged = readManifest(manifest, now);
  if (judged.kind === 'refused') throw new UsageError(judged.faults.map(faultText));
  if (judged.value.kind !== 'EvictionPause') throw new TypeError('what is made is a pause');
  return { manifest, pause: judged.value.value };
}

/** Throws UsageError where the pause is over at `now`. */
export function refuseOver({ pause: { until } }: NewPause, now: Instant): void {
  if (until === null || until > now) return;
  const times = [until, now].map(formatTime);
  throw new UsageError(`--until: got ${times[0]}, want a time after ${times[1]}, which it is now`);
}

/** Whole seconds, as it is written: rather a little longer. */
function endOf({ until, for: length }: PauseFlags, now: Instant): Instant | null {
  const end = until ?? (length === undefined ? null : now + length);
  return end === null ? null : Math.ceil(end / 1000) * 1000;
}

function given<T extends object>(fields: T): Partial<T> {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as Partial<T>;
}

const flagOf: Readonly<Record<string, string>> = {
  name: 'NAME',
  zones: '--zones',
  nodeSelector: '--node-selector',
  taintKeys: '--taint-keys',
  namespaces: '--namespaces',
  reason: '--reason',
  until: '--until, --for',
  spec: '--deadlines, --readiness',
};

/** The API server's words, behind the flag instead of the field that it fills. */
function faultText({ path, text }: ManifestFault): string {
  const flag = path.map((step) => flagOf[step]).findLast((one) => one !== undefined);
  const field = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  const plain = field.join('').slice(1);
  return flag === undefined
    ? text
    : text.replace(plain, () => flag).replace(`${plain} in body `, '');
}
