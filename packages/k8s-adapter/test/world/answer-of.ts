// The answer of a simulated API server to one request, at once.
import assert from 'node:assert/strict';
import type { ApiServer } from '@taintmgr/api-server';
import type { Answer } from '../../src/proto/answer.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';

export function answerOf(
  api: ApiServer,
  { method, path, headers, body: sent }: ApiRequest,
): Answer {
  let [status, body] = [0, ''];
  api.exchange(
    { method, path, headers, body: sent },
    {
      head: (code) => {
        status = code;
      },
      data: (chunk) => {
        body += chunk;
      },
      end: () => {},
      reset: () => assert.fail('the connection broke'),
    },
  );
  return { kind: 'response', status, headers: {}, body };
}
