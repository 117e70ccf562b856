// Why pods go, as data beside the sentence that explain says of it.
import { describeReason, formatTaint, type Reason, type Toleration } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import { relativeText } from './texts.ts';

/** A reason, as the panel of a pod shows it. */
export interface RecordedReason {
  /** As in `explain`: NoToleration, TolerationExpires. */
  readonly code: string;
  readonly text: string;
  /** `key=value:effect`; null: it is for no taint. */
  readonly taint: string | null;
  /** The toleration that counts; null: the pod has none. */
  readonly toleration: string | null;
  /** How long that lasts; null: for good, or there is none. */
  readonly tolerationSeconds: number | null;
  /** The policy that decides; null: none does. */
  readonly policy: string | null;
}

/** A reason whose times count from the beginning. */
export function recordedReason(reason: Reason, startsAt: Instant): RecordedReason {
  const toleration = 'toleration' in reason ? reason.toleration : null;
  const seconds = toleration?.tolerationSeconds ?? null;
  return {
    code: reason.code,
    text: relativeText(describeReason(reason), startsAt),
    taint: 'taint' in reason ? formatTaint(reason.taint) : null,
    toleration: toleration && tolerationText(toleration),
    tolerationSeconds: seconds === null ? null : Number(seconds),
    policy: 'policy' in reason ? (policyOf(reason) ?? null) : null,
  };
}

/** A mark of a policy, or only its name. */
function policyOf({ policy }: { readonly policy?: { readonly name: string } }): string | undefined {
  return policy?.name;
}

/** `key=value:effect`, `key:effect`, `all taints` */
function tolerationText({ key, operator, value, effect }: Toleration): string {
  if (!key) return 'all taints';
  const isEqual = operator !== 'Exists' && value;
  const shown = isEqual ? `${key}=${value}` : key;
  return effect ? `${shown}:${effect}` : shown;
}
