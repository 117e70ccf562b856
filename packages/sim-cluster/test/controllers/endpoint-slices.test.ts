import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { deployment } from '../../src/builders.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

interface Endpoint {
  readonly addresses: readonly string[];
  readonly targetRef: { readonly name: string };
  readonly conditions: Readonly<Record<string, boolean>>;
}

function start(replicas: number) {
  const topology = small(['a', 'b'], [deployment('default', 'web', { replicas })]);
  const running = virtualCluster({ topology: { ...topology, nodesPerZone: 10 } });
  running.api.create('services', service);
  running.untilIdle();
  running.pass(100);
  return running;
}

const slicesOf = (api: PlainServer) => api.list('endpointslices', 'default');

const endpointsOf = (api: PlainServer): readonly Endpoint[] =>
  slicesOf(api).flatMap((slice): readonly Endpoint[] => slice.endpoints ?? []);

describe('the endpoints of a Service', () => {
  it('are the pods that it selects, with their addresses and the port that they listen on', () => {
    const { api } = start(2);
    const addresses = podsOf(api, 'web').map(({ status }) => status.podIP);
    assert.deepEqual(
      endpointsOf(api)
        .flatMap((one) => one.addresses)
        .sort(),
      addresses.sort(),
    );
    assert.deepEqual(slicesOf(api)[0]?.ports, [{ name: 'http', protocol: 'TCP', port: 8080 }]);
  });

  it('are terminating and serving while their pods end, and gone with them', () => {
    const { api, pass } = start(1);
    const [pod = assert.fail()] = podsOf(api, 'web');
    api.delete('pods', 'default', pod.metadata.name);
    pass(100);
    assert.deepEqual(
      endpointsOf(api).map(({ conditions }) => conditions),
      [{ ready: false, serving: true, terminating: true }],
    );
    pass(2000);
    const names = podsOf(api, 'web').map(({ metadata }) => metadata.name);
    assert.deepEqual(
      endpointsOf(api).map(({ targetRef }) => targetRef.name),
      names,
    );
    assert.ok(!names.includes(pod.metadata.name));
  });

  it('are in slices of a hundred, and go with the Service', () => {
    const { api, pass, untilIdle } = start(150);
    const sizes = () => slicesOf(api).map(({ endpoints = [] }) => endpoints.length);
    assert.deepEqual([...sizes()].sort(), [100, 50]);
    setSpec(api, 'deployments', stored(api, 'deployments', 'default', 'web'), { replicas: 0 });
    untilIdle();
    pass(10_000);
    assert.deepEqual(sizes(), [0]);
    api.delete('services', 'default', 'web');
    pass(1000);
    assert.deepEqual(sizes(), []);
  });

  it('are of nobody where it selects nothing', () => {
    const { api, pass } = start(1);
    const { selector: _none, ...spec } = service.spec;
    api.create('services', { ...service, metadata: { ...service.metadata, name: 'odd' }, spec });
    pass(1000);
    assert.equal(slicesOf(api).length, 1);
  });
});
