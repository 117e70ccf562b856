import type { IncomingMessage } from 'node:http';
import { type Answer, errorAnswer, statusAnswer } from './answer.ts';
import type { Authenticate } from './authentication.ts';
import type { Authorize } from './authorization.ts';

/** What keeps somebody out; null: nothing. */
export type Gate = (request: IncomingMessage, path: string) => Promise<Answer | null>;

/** Lets in who may come in: 401 for a credential that is not valid, 403 for whoever may not. */
export function createGate(authenticate: Authenticate, authorize: Authorize): Gate {
  return async (request, path) => {
    const identity = await authenticate(request);
    if (!identity) return statusAnswer(401, 'Unauthorized', 'Unauthorized');
    const verb = (request.method ?? 'GET').toLowerCase();
    try {
      if (await authorize(identity, verb, path)) return null;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return errorAnswer(`Internal Server Error: ${JSON.stringify(path)}: ${why}`, 500);
    }
    const message = `forbidden: User ${JSON.stringify(identity.name)} cannot ${verb} path ${JSON.stringify(path)}`;
    return statusAnswer(403, 'Forbidden', message);
  };
}
