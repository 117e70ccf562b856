// The notices about the admission policies of takeover, and their words.
import type { Failure } from '../../proto/answer.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import { asRecord, asText } from '../../proto/json.ts';
import type { Drift } from '../../takeover/drift.ts';
import type { TakeoverManifest } from '../../takeover/manifests.ts';

export type InstallerNotice =
  /** A policy or a binding is not as it should be, and is about to be mended. */
  | {
      readonly kind: 'takeoverDrift';
      readonly object: string;
      readonly drift: readonly Drift[];
    }
  /** The object was written; `left`: the remaining differences. */
  | {
      readonly kind: 'takeoverMended';
      readonly object: string;
      readonly isNew: boolean;
      readonly left: readonly Drift[];
    }
  /** The object was mended too often recently, and is left as it is for a while. */
  | {
      readonly kind: 'takeoverContested';
      readonly object: string;
      readonly drift: readonly Drift[];
    }
  /** All of them are as they should be, or not any more. */
  | { readonly kind: 'takeoverInForce'; readonly isInForce: boolean }
  /**
   * The objects could not be read or written; reported once for as long as the failure stays the
   * same.
   */
  | { readonly kind: 'takeoverFault'; readonly object: string; readonly failure: Failure };

const shownMax = 3;

/** The Event about an object that others have changed. */
export function mendedEvent(
  { apiVersion, kind, metadata }: TakeoverManifest,
  live: unknown,
  drift: readonly Drift[],
): ClusterEvent {
  const uid = asText(asRecord(asRecord(live).metadata).uid);
  const subject = { apiVersion, kind, namespace: '', name: metadata.name, uid };
  const reason = 'TakeoverPolicyChanged';
  return { subject, type: 'Warning', reason, message: `mending it: ${driftText(drift)}` };
}

/** Returns the first differences in words. */
export function driftText(drift: readonly Drift[]): string {
  const texts = drift.slice(0, shownMax).map(({ text }) => text);
  const more = drift.length - texts.length;
  return `${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
