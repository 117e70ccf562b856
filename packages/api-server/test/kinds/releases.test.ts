import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubernetesVersion, releaseOf } from '../../src/kinds/releases.ts';
import { fixture } from '../world/api-fixture.ts';

const devices = 'deviceclasses resourceclaims resourceclaimtemplates resourceslices';

/** The kinds of resource.k8s.io that a version serves by default, and whether it streams lists. */
const expected: readonly (readonly [KubernetesVersion, kinds: string, streams: boolean])[] = [
  ['1.30', '', false],
  ['1.31', '', false],
  ['1.32', '', true],
  ['1.33', '', false],
  ['1.34', devices, true],
  ['1.35', devices, true],
  ['1.36', devices, true],
  ['1.37', devices.replace(' ', ' devicetaintrules '), true],
  ['1.38', devices.replace(' ', ' devicetaintrules '), true],
];

for (const [version, kinds, streams] of expected) {
  describe(`a server of Kubernetes ${version}`, () => {
    const { client, api } = fixture({ release: releaseOf(version) });

    it('says so', () => {
      const { gitVersion, minor } = client.get('/version').body;
      assert.deepEqual([gitVersion, `1.${minor}`], [`v${version}.0`, version]);
    });

    it('serves the kinds that are on by default', () => {
      const { status, body } = client.get('/apis/resource.k8s.io');
      assert.equal(status, kinds === '' ? 404 : 200);
      const { resources = [] } = client.get('/apis/resource.k8s.io/v1').body;
      const names: readonly string[] = resources.map(({ name }: { name: string }) => name);
      assert.equal(names.filter((name) => !name.includes('/')).join(' '), kinds);
      if (kinds !== '') assert.deepEqual(body.versions.length, 1);
    });

    it('still has places for objects of other kinds, which its parts look for', () => {
      assert.deepEqual(api.list('resourceslices'), []);
    });

    it(`${streams ? 'begins' : 'does not begin'} a watch with a list`, () => {
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
      const { status, body } = client.get(`/api/v1/nodes?${query}&timeoutSeconds=1`);
      assert.equal(status, streams ? 200 : 422);
      if (!streams) assert.match(body.message, /sendInitialEvents is forbidden for watch unless/);
    });
  });
}
