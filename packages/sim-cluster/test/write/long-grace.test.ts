// A pod whose grace period means for ever.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonOf } from '../../src/objects/json.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';
import { small, virtualCluster } from '../world/virtual-cluster.ts';

/** The largest int64 as JSON.parse reads it. */
const forEver = 2 ** 63 - 1;

describe('a pod with a grace period for ever', () => {
  const spec = { terminationGracePeriodSeconds: forEver, nodeName: 'a-1' };

  it('ends with the last date there is', () => {
    const { client } = fixture();
    client.post(pods, jsonOf(podNamed('p', spec)));
    const { status, body, text } = client.delete(`${pods}/p`);
    assert.equal(status, 200);
    assert.equal(body.metadata.deletionTimestamp, '9999-12-31T23:59:59Z');
    assert.match(text, /"deletionGracePeriodSeconds":9223372036854775807/);
  });

  it('counts a shorter period from the request that asks for it', () => {
    const { client, pass } = fixture();
    client.post(pods, jsonOf(podNamed('p', spec)));
    client.delete(`${pods}/p`);
    pass(60_000);
    const { body } = client.delete(`${pods}/p`, { query: { gracePeriodSeconds: 30 } });
    assert.equal(body.metadata.deletionTimestamp, '2026-01-01T00:01:30Z');
    pass(10_000);
    const shorter = client.delete(`${pods}/p`, { query: { gracePeriodSeconds: 20 } });
    assert.equal(shorter.body.metadata.deletionTimestamp, '2026-01-01T00:01:20Z');
  });

  it('goes when its containers have stopped', () => {
    const { api, untilIdle } = virtualCluster({ topology: small(['a']) });
    untilIdle();
    api.create('pods', podNamed('p', spec));
    untilIdle();
    api.delete('pods', 'default', 'p');
    untilIdle();
    assert.equal(api.get('pods', 'default', 'p'), null);
  });
});
