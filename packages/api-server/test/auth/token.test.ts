// How long the token of a service account may be asked for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture } from '../world/api-fixture.ts';

const accounts = '/api/v1/namespaces/default/serviceaccounts';

describe('a token', () => {
  const { client } = fixture();
  client.post(accounts, { metadata: { name: 'agent' } });
  const ask = (expirationSeconds: number) =>
    client.post(`${accounts}/agent/token`, { spec: { expirationSeconds } });

  it('ends when it was asked to', () => {
    const { status, body } = ask(2 ** 32);
    assert.equal(status, 201);
    assert.equal(body.status.expirationTimestamp, '2162-02-07T06:28:16Z');
  });

  const refused: readonly (readonly [number, string])[] = [
    [599, 'may not specify a duration less than 10 minutes'],
    [2 ** 32 + 1, 'may not specify a duration larger than 2^32 seconds'],
    [9_000_000_000_000_000, 'may not specify a duration larger than 2^32 seconds'],
  ];
  for (const [seconds, why] of refused) {
    it(`is refused for ${seconds} s`, () => {
      const { status, body } = ask(seconds);
      assert.equal(status, 422);
      assert.equal(
        body.message,
        `TokenRequest.authentication.k8s.io "agent" is invalid: spec.expirationSeconds: Invalid value: ${seconds}: ${why}`,
      );
    });
  }
});
