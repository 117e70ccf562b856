// Lets a request in or turns it away: authentication, then authorization.
import type { IncomingMessage } from 'node:http';
import { type Answer, errorAnswer, statusAnswer } from './answer.ts';
import { type Authenticate, anonymous, type Identity } from './authentication.ts';
import type { Authorize } from './authorization.ts';
import { TooManyReviewsError } from './reviews.ts';

/** The decision to let a request in, or to turn it away. */
export interface Admission {
  /** True if a credential has shown who sends it. */
  readonly isKnown: boolean;
  /** The answer that turns it away; null: it is let in. */
  readonly refusal: Answer | null;
}

export type Gate = (request: IncomingMessage, path: string) => Promise<Admission>;

/** For what is open to everybody: no credential is asked for. */
export const openGate: Gate = async () => ({ isKnown: false, refusal: null });

/**
 * Answers 401 for a credential that is not valid, 403 for a caller without the permission, and 429
 * where there are too many callers to review each.
 */
export function createGate(authenticate: Authenticate, authorize: Authorize): Gate {
  return async (request, path) => {
    try {
      const identity = await authenticate(request);
      if (!identity) return strange(statusAnswer(401, 'Unauthorized', 'Unauthorized'));
      const refusal = await refusalOf(identity, request, path, authorize);
      return { isKnown: identity !== anonymous, refusal };
    } catch (error) {
      if (error instanceof TooManyReviewsError) return strange(laterAnswer(error.message));
      throw error;
    }
  };
}

function strange(refusal: Answer): Admission {
  return { isKnown: false, refusal };
}

async function refusalOf(
  identity: Identity,
  { method = 'GET' }: IncomingMessage,
  path: string,
  authorize: Authorize,
): Promise<Answer | null> {
  const verb = method.toLowerCase();
  try {
    if (await authorize(identity, verb, path)) return null;
  } catch (error) {
    if (error instanceof TooManyReviewsError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return errorAnswer(`Internal Server Error: ${JSON.stringify(path)}: ${why}`, 500);
  }
  const message = `forbidden: User ${JSON.stringify(identity.name)} cannot ${verb} path ${JSON.stringify(path)}`;
  return statusAnswer(403, 'Forbidden', message);
}

function laterAnswer(message: string): Answer {
  const answer = statusAnswer(429, 'TooManyRequests', message);
  return { ...answer, headers: { ...answer.headers, 'retry-after': '1' } };
}
