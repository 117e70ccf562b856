// The notices about what the leader publishes, for logs and metrics.
import { type Answer, type Failure, isMissing, succeeded } from '../proto/answer.ts';
import { asRecord, parseJson } from '../proto/json.ts';

/** The reports about the TaintManager that a leader publishes. */
export type PublisherNotice =
  /** The status was written, for the first time since we lead or since it could not be. */
  | { readonly kind: 'statusPublished'; readonly name: string }
  /** The status could not be written; reported once for as long as the failure stays the same. */
  | {
      readonly kind: 'statusNotPublished';
      readonly name: string;
      readonly why: Obstacle;
      readonly failure: Failure;
      /** True if it is tried again only once a minute. */
      readonly isSlow: boolean;
    }
  /** The status of a policy, taint rule or pause could be written again. */
  | { readonly kind: 'policiesPublished'; readonly resource: string }
  /**
   * Statuses could not be written; reported once for as long as the failure stays the same for some
   * of the kind.
   */
  | {
      readonly kind: 'policiesNotPublished';
      readonly resource: string;
      readonly why: Obstacle;
      readonly failure: Failure;
    };

/**
 * The API has no such kind; its definition is older and drops the fields that takeover needs; the
 * write is refused to us; anything else, which may pass.
 */
export type Obstacle = 'notInstalled' | 'outdated' | 'refused' | 'failed';

/** A token that has run out is renewed, a server that is overloaded has room again. */
const passingStatuses: readonly number[] = [401, 408, 409, 429];

export function obstacleOf(failure: Failure): Obstacle {
  const { status } = failure;
  if (isMissing(failure)) return 'notInstalled';
  const passes = status === null || status >= 500 || passingStatuses.includes(status);
  return passes ? 'failed' : 'refused';
}

/** The failure that is in the way where a heartbeat of takeover was stored without that; null: it is all there. */
export function cutOf(answer: Answer): Failure | null {
  if (!succeeded(answer)) return null;
  const { renewTime, takeover } = asRecord(asRecord(parseJson(answer.body)).status);
  return renewTime === undefined || takeover !== undefined ? null : outdated;
}

const outdated: Failure = {
  ...{ status: null, reason: '', retryAfter: null, causes: [], name: '', kind: '' },
  message:
    'the definition of TaintManager is older than this controller, and drops status.takeover',
};
