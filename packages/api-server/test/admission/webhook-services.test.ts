import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { eviction, shop, type WithWebhooks, webhook, withWebhooks } from './asked-webhooks.ts';

const name = 'evictions.example.com';
const service = { namespace: 'shop', name: 'hook', path: '/evictions' };
const url = 'https://hook.shop.svc:443/evictions?timeout=10s';

/** Evictions are shown to a Service; with its ports there is one of them. */
function behindService(ports: readonly object[] | null): WithWebhooks {
  const made = withWebhooks(
    () => ({ allowed: true }),
    [webhook(name, { clientConfig: { service } })],
  );
  const metadata = { name: 'hook', namespace: 'shop' };
  if (ports) made.api.create('services', { metadata, spec: { ports, clusterIP: '10.96.0.9' } });
  return made;
}

const endpoints: KubeObject = {
  metadata: {
    name: 'hook-1',
    namespace: 'shop',
    labels: { 'kubernetes.io/service-name': 'hook' },
  },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.0.0.1'], conditions: { ready: false } },
    { addresses: ['10.0.0.2'], conditions: { ready: true } },
  ],
  ports: [{ name: 'https', port: 8443 }],
};

describe('a webhook behind a Service', () => {
  const https = { name: 'https', port: 443 };

  it('is one of its ready endpoints, under the name of the Service', () => {
    const { api, client, calls } = behindService([https]);
    api.create('endpointslices', endpoints);
    assert.equal(client.post(`${shop}/web/eviction`, eviction()).status, 201);
    const [{ body: _, ca: __, ...call } = {}] = calls;
    assert.deepEqual(call, { url, host: '10.0.0.2', port: 8443, serverName: 'hook.shop.svc' });
  });

  it('is looked for at the cluster address where there are no endpoints', () => {
    const { client, calls } = behindService([https]);
    client.post(`${shop}/web/eviction`, eviction());
    assert.deepEqual([calls[0]?.host, calls[0]?.port], ['10.96.0.9', 443]);
  });

  const missing = [
    ['Service', null, 'service "hook" not found'],
    ['port', [{ name: 'other', port: 80 }], 'no service port 443 found for service "hook"'],
  ] as const;
  for (const [what, ports, why] of missing) {
    it(`cannot be called where there is no such ${what}`, () => {
      const { client, calls } = behindService(ports);
      const { status, body } = client.post(`${shop}/web/eviction`, eviction());
      assert.equal(status, 500);
      assert.equal(
        body.message,
        `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "${url}": ${why}`,
      );
      assert.deepEqual(calls, []);
    });
  }
});

describe('a webhook that is asked while the network is bad', () => {
  it('has been asked, and the eviction is carried out, where its answer is lost', () => {
    const { api, asked, client } = withWebhooks(() => ({ allowed: true }));
    api.faults.add({ fault: { kind: 'lose' }, resource: 'pods/eviction', times: 1 });
    assert.equal(client.post(`${shop}/web/eviction`, eviction()).wasReset, true);
    assert.equal(client.get(`${shop}/web`).status, 404);
    assert.equal(asked.length, 1);
  });
});
