import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { clash, hostPortsOf } from '../../src/scheduler/host-ports.ts';

describe('two host ports', () => {
  const port = (port: number, protocol = 'TCP', ip = '0.0.0.0') => [{ port, protocol, ip }];
  const cases: readonly (readonly [string, ReturnType<typeof port>, boolean])[] = [
    ['of the same number', port(80), true],
    ['of two numbers', port(81), false],
    ['of two protocols', port(80, 'UDP'), false],
    ['at an address, and at all', port(80, 'TCP', '10.0.0.1'), true],
  ];
  for (const [name, other, expected] of cases) {
    it(`${name}: ${expected ? 'clash' : 'do not'}`, () => {
      assert.equal(clash(port(80), other), expected);
      assert.equal(clash(other, port(80)), expected);
    });
  }
  it('at two addresses: do not', () => {
    assert.equal(clash(port(80, 'TCP', '10.0.0.1'), port(80, 'TCP', '10.0.0.2')), false);
  });
});

describe('the host ports of a pod', () => {
  const container = (containerPort: number, more: object = {}): object => ({
    ...{ name: 'c', image: 'i', ports: [{ containerPort, hostPort: containerPort }] },
    ...more,
  });
  const portsOf = (spec: object): readonly number[] =>
    hostPortsOf({ ...pod('default', 'p'), spec }).map(({ port }) => port);

  it('are those of containers and sidecars', () => {
    const initContainers = [container(2), container(3, { restartPolicy: 'Always' })];
    assert.deepEqual(portsOf({ containers: [container(1)], initContainers }), [1, 3]);
  });

  it('are all of its ports where it is on the network of the host', () => {
    const containers = [{ name: 'c', ports: [{ containerPort: 8080 }] }];
    assert.deepEqual(portsOf({ containers }), []);
    assert.deepEqual(portsOf({ containers, hostNetwork: true }), [8080]);
  });
});
