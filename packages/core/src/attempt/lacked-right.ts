// How an answer shows that we may not make pods leave.
import type { PodRight } from '../policy/pod-rights.ts';
import type { Setback } from './outcome.ts';

const denial = / cannot (delete resource "pods"|create resource "pods\/eviction") in API group ""/;

/** The right for lack of which the API server refused a pod's removal; null: it did not, or for another reason. */
export function lackedRight(setback: Setback): PodRight | null {
  if (setback.kind !== 'failed' || setback.status !== 403) return null;
  const [, asked] = denial.exec(setback.message) ?? [];
  if (asked === undefined) return null;
  return asked.startsWith('delete') ? 'delete pods' : 'create pods/eviction';
}
