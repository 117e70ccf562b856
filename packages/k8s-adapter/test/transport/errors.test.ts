import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, ConnectionError } from '../../src/transport/errors.ts';
import { client, json, type Reply } from '../client/replies.ts';

describe('the error of a request', () => {
  it('throws the server’s refusal in kubectl’s words', async () => {
    const status = {
      reason: 'NotFound',
      message: 'nodes "x" not found',
      details: { name: 'x', kind: 'nodes' },
    };
    const { api } = client(json(404, status));
    await assert.rejects(api.get('/api/v1/nodes/x'), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.message, 'Error from server (NotFound): nodes "x" not found');
      const { status: code, reason, name, kind } = error.failure;
      assert.deepEqual([code, reason, name, kind], [404, 'NotFound', 'x', 'nodes']);
      return true;
    });
  });

  it('names the resource that the server does not know', async () => {
    const message = 'the server could not find the requested resource';
    const { api } = client(json(404, { reason: 'NotFound', message, details: {} }));
    await assert.rejects(api.list('/apis/policy/v1/poddisruptionbudgets'), {
      message: `Error from server (NotFound): ${message} (GET /apis/policy/v1/poddisruptionbudgets)`,
    });
  });

  const check = '; check that the API server runs and that --context names the right cluster';
  const silences: [string, Reply, string][] = [
    ['no answer', (_, sink) => sink.failed('connect ECONNREFUSED'), 'connect ECONNREFUSED'],
    [
      'an answer cut off',
      (_, sink) => {
        sink.head(200, {});
        sink.failed('aborted');
      },
      'aborted',
    ],
    [
      'a web page',
      (_, sink) => {
        sink.head(200, {});
        sink.data('<html>');
        sink.end();
      },
      'what answers at /version does not speak JSON',
    ],
    ['nothing for too long', () => {}, 'no answer within 1ms'],
  ];

  it('does not ask to check whether a server runs that has shown a certificate', async () => {
    const why =
      'its certificate is signed by an authority that is not trusted: check certificate-authority';
    const { api } = client((_, sink) => sink.failed(why));
    await assert.rejects(api.get('/version'), (error: Error) => {
      assert.ok(error.message.endsWith(` failed: ${why}`));
      return true;
    });
  });

  for (const [name, reply, why] of silences) {
    it(`says that and why nothing came: ${name}`, async () => {
      const { api } = client(reply, { requestTimeout: 1 });
      await assert.rejects(api.get('/version'), (error) => {
        assert.ok(error instanceof ConnectionError);
        assert.equal(error.message, `request to https://c:6443 failed: ${why}${check}`);
        return true;
      });
    });
  }

  it('blames the credentials, not the server, where nobody could log in', async () => {
    const why = 'credential plugin gke failed: spawn gke ENOENT';
    const { api } = client((_, sink) => sink.failed(why, 'login'));
    await assert.rejects(api.get('/version'), (error) => {
      assert.ok(error instanceof ConnectionError);
      const check = 'check the user that the current context names (kubectl config view --minify)';
      assert.equal(error.message, `cannot log in to https://c:6443: ${why}; ${check}`);
      return true;
    });
  });
});
