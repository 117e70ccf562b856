// Takes away what a proof or a trial has made, and says what it could not take away.
import { type ApiClient, ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { type Output, warn } from '../../cli/output.ts';
import { describeRight, isAllowed, type Right } from '../../cluster/rights.ts';
import { UsageError } from '../../usage-error.ts';
import { deleteRequest, labelRequest, namespacePath } from './requests.ts';

/** Something that was made and is still there. */
export interface Leftover {
  readonly why: string;
  /** What takes it away. */
  readonly command: string;
}

/** Throws UsageError where we must not take away what we would make. */
export async function refuseWithout(client: ApiClient, rights: readonly Right[]): Promise<void> {
  const answers = await Promise.all(rights.map((right) => isAllowed(client, right)));
  const missing = rights.filter((_, index) => answers[index] === false).map(describeRight);
  if (missing.length === 0) return;
  throw new UsageError(
    `no permission to ${missing.join(' and to ')}: what is made for it would stay; nothing was changed`,
  );
}

/** What is left if it fails; what is not there is no fault. */
export async function takeAway(
  action: Promise<unknown>,
  command: string,
): Promise<readonly Leftover[]> {
  try {
    await action;
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
    const isGone = error instanceof ApiError && error.failure.status === 404;
    return isGone ? [] : [{ why: error.message, command }];
  }
}

/** Takes a namespace away with its pods; one that stays is at least not taken over. */
export async function takeNamespaceAway(
  client: ApiClient,
  name: string,
): Promise<readonly Leftover[]> {
  const request = client.send(deleteRequest(namespacePath(name)));
  const left = await takeAway(request, `kubectl delete namespace ${name}`);
  if (left.length > 0) await takeAway(client.send(labelRequest(name, false)), '');
  return left;
}

export function warnOfLeft(output: Output, left: readonly Leftover[]): void {
  for (const { why, command } of left) {
    warn(output, `it could not be cleaned up: ${why}; to do it: ${command}`);
  }
}
