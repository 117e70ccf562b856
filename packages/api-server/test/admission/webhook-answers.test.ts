// What comes of answers that make no sense, and of none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WebhookOutcome } from '../../src/admission/webhooks/call.ts';
import { eviction, shop, webhook, withWebhooks } from './asked-webhooks.ts';

const name = 'evictions.example.com';

describe('a webhook that gives no good answer', () => {
  const answered = (
    body: string,
    status = 200,
    contentType = 'application/json',
  ): { outcome: WebhookOutcome } => ({
    outcome: { kind: 'answered', status, contentType, body },
  });
  const review = (more: object): string =>
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...more });
  const unread = (what: string): string =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  const url = `https://10.9.8.7:9443/${name}?timeout=10s`;
  const cases: readonly (readonly [string, object, string])[] = [
    [
      'nobody listens',
      { outcome: { kind: 'failed', why: 'dial tcp 10.9.8.7:9443: connect: connection refused' } },
      `failed to call webhook: Post "${url}": dial tcp 10.9.8.7:9443: connect: connection refused`,
    ],
    [
      'no page',
      answered('404 page not found', 404),
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'a crash',
      answered('boom', 500, 'text/plain; charset=utf-8'),
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'a crash in no words',
      answered('boom', 500),
      'failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [
      'a Status that tells why',
      answered(JSON.stringify({ kind: 'Status', apiVersion: 'v1', message: 'busy' }), 503),
      'failed to call webhook: busy',
    ],
    [
      'nothing',
      answered('', 204),
      'failed to call webhook: 0-length response with status code: 204 and content type: application/json',
    ],
    ['no JSON', answered('hello'), `failed to call webhook: ${unread('string')}`],
    ['a list', answered('[]'), `failed to call webhook: ${unread('array')}`],
    [
      'an object of another kind',
      answered(JSON.stringify({ kind: 'Pod', apiVersion: 'v1' })),
      'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"',
    ],
    [
      'a word for yes',
      { allowed: 'yes' },
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'no response',
      answered(review({})),
      'received invalid webhook response: webhook response was absent',
    ],
    [
      'another version',
      { outcome: { kind: 'failed', why: '' } },
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      'a patch',
      { allowed: true, patch: 'W10=' },
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
  ];
  for (const [what, answer, why] of cases) {
    const answering = ({ uid }: { readonly uid: string }): object =>
      what === 'another version'
        ? answered(review({ apiVersion: 'admission.k8s.io/v1beta1', response: { uid } }))
        : answer;
    it(`stands against the request: ${what}`, () => {
      const { client } = withWebhooks(answering);
      const { status, body } = client.post(`${shop}/web/eviction`, eviction());
      const message = `failed calling webhook "${name}": ${why}`;
      assert.deepEqual(
        [status, body.message, body.reason, body.details],
        [500, `Internal error occurred: ${message}`, 'InternalError', { causes: [{ message }] }],
      );
    });

    it(`does not where failurePolicy is Ignore: ${what}`, () => {
      const ignoring = webhook(name, { failurePolicy: 'Ignore' });
      const { client } = withWebhooks(answering, [ignoring]);
      assert.equal(client.post(`${shop}/web/eviction`, eviction()).status, 201);
    });
  }

  it('answers with the uid of another review', () => {
    const { client, asked } = withWebhooks(() =>
      answered(review({ response: { uid: 'x', allowed: true } })),
    );
    const { body } = client.post(`${shop}/web/eviction`, eviction());
    const uid = asked[0]?.uid;
    assert.ok(body.message.endsWith(`expected response.uid="${uid}", got "x"`), body.message);
  });

  it('is too late', () => {
    const { client, pass } = withWebhooks(
      () => ({ allowed: true }),
      [webhook(name, { timeoutSeconds: 2 })],
      3000,
    );
    const response = client.send('POST', `${shop}/web/eviction`, { body: eviction() });
    pass(1900);
    assert.equal(response().ended, false);
    pass(100);
    assert.equal(
      response().body.message,
      `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "https://10.9.8.7:9443/${name}?timeout=2s": context deadline exceeded`,
    );
    pass(5000);
    assert.equal(client.get(`${shop}/web`).status, 200);
  });

  it('is given up when the client leaves', () => {
    const { client, pass, api } = withWebhooks(() => ({ allowed: true }), undefined, 1000);
    const request = { method: 'POST', path: `${shop}/web/eviction`, headers: {} };
    const never = (): never => assert.fail('an answer');
    const nothing = { head: never, data: never, end: never, reset: never };
    const leave = api.exchange({ ...request, body: JSON.stringify(eviction()) }, nothing);
    pass(500);
    leave();
    pass(1000);
    assert.equal(client.get(`${shop}/web`).status, 200);
  });
});
