// What people should know of what the leader publishes.
import type { Failure } from '../proto/answer.ts';
import { isMissing } from '../proto/denial.ts';

export type PublisherNotice =
  /** It was written, for the first time since we lead or since it could not be. */
  | { readonly kind: 'statusPublished'; readonly name: string }
  /** It could not be written; reported once for as long as it goes on alike. */
  | {
      readonly kind: 'statusNotPublished';
      readonly name: string;
      readonly why: Obstacle;
      readonly failure: Failure;
      /** Whether it is tried again only once a minute. */
      readonly isSlow: boolean;
    }
  /** The status of a policy, taint rule or pause could be written again. */
  | { readonly kind: 'policiesPublished'; readonly resource: string }
  /** It could not be; reported once for as long as it goes on alike for some of the kind. */
  | {
      readonly kind: 'policiesNotPublished';
      readonly resource: string;
      readonly why: Obstacle;
      readonly failure: Failure;
    };

/** The API has no such kind; it will not have it from us; anything else, which may pass. */
export type Obstacle = 'notInstalled' | 'refused' | 'failed';

/** A token that has run out is renewed, a server that is overloaded has room again. */
const passingStatuses: readonly number[] = [401, 408, 409, 429];

export function obstacleOf(failure: Failure): Obstacle {
  const { status } = failure;
  if (isMissing(failure)) return 'notInstalled';
  const passes = status === null || status >= 500 || passingStatuses.includes(status);
  return passes ? 'failed' : 'refused';
}
