import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { merge, type Response, strategic } from '../../../sim-cluster/test/world/client.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

// What clients seldom do, and what the real server says to it.

const causesOf = ({ body }: Response): readonly unknown[] =>
  body.details.causes.map(({ field }: { readonly field: string }) => field);

describe('a generated name', () => {
  const { client } = fixture();
  const spec = podNamed('x').spec;
  const create = (metadata: object) => client.post(pods, { metadata, spec });

  it('is never longer than a label', () => {
    const { name } = create({ generateName: `${'g'.repeat(70)}-` }).body.metadata;
    assert.match(name, /^g{58}[a-z0-9]{5}$/);
  });

  it('is refused together with its prefix', () => {
    const refused = create({ generateName: 'Bad_' });
    assert.match(refused.body.message, /^Pod "Bad_[a-z0-9]{5}" is invalid: /);
    assert.deepEqual(causesOf(refused), ['metadata.generateName', 'metadata.name']);
    assert.equal(create({ generateName: 'good-' }).status, 201);
    assert.equal(create({ generateName: 'good' }).status, 201);
  });
});

describe('metadata', () => {
  it('names one controller at most', () => {
    const { client } = fixture();
    const owner = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Node',
      name,
      uid: name,
      controller: true,
    });
    const ownerReferences = [owner('a'), { ...owner('b'), controller: false }, owner('c')];
    const { status, body } = client.post(pods, podNamed('p', {}, { ownerReferences }));
    assert.equal(status, 422);
    assert.match(
      body.message,
      /Only one reference can have Controller set to true\. Found "true" in references for Node\/a and Node\/c$/,
    );
    const one = podNamed('p', {}, { ownerReferences: ownerReferences.slice(0, 2) });
    assert.equal(client.post(pods, one).status, 201);
  });
});

describe('a patch', () => {
  const { api, client } = fixture();
  api.create('nodes', { metadata: { name: 'n' } });

  it('that is no apply cannot be forced', () => {
    const query = { force: 'true' };
    const { status, body } = client.patch(`${nodes}/n`, {}, merge, { query });
    assert.equal(status, 422);
    assert.equal(
      body.message,
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    );
  });

  it('has to know its directive', () => {
    const { status, body } = client.patch(`${nodes}/n`, { spec: { $patch: 'bogus' } }, strategic);
    assert.deepEqual(
      [status, body.message],
      [500, 'unknown patch type: bogus in map: map[$patch:bogus]'],
    );
    assert.equal(client.patch(`${nodes}/n`, { spec: { $patch: 'merge' } }, strategic).status, 500);
  });
});

describe('health', () => {
  it('is told whatever the method', () => {
    const { client } = fixture();
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const { status, text } = client.request(method, '/healthz');
      assert.deepEqual([status, text], [200, 'ok'], method);
    }
  });
});

describe('a page', () => {
  it('shows the state of the first one, whatever happened since', () => {
    const { api, client } = fixture();
    const create = (name: string, k: string) =>
      api.create('pods', podNamed(name, {}, { labels: { k } }));
    for (let index = 0; index < 6; index++) create(`k${index}`, index % 2 ? 'odd' : 'even');
    const names: string[] = [];
    let [token, versions] = ['', new Set<string>()];
    do {
      const query = {
        limit: 2,
        labelSelector: 'k in (odd,even)',
        ...(token ? { continue: token } : {}),
      };
      const { items, metadata } = client.get(pods, { query }).body;
      for (const item of items) names.push(item.metadata.name);
      versions.add(metadata.resourceVersion ?? '');
      token = (metadata as { continue?: string }).continue ?? '';
      if (names.length === 2) {
        api.delete('pods', 'default', 'k3');
        create('k35', 'odd');
        api.update('pods', {
          ...api.get('pods', 'default', 'k5')!,
          metadata: { name: 'k5', namespace: 'default' },
        });
      }
    } while (token !== '');
    assert.deepEqual(names, ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']);
    assert.equal(versions.size, 1);
  });
});

describe('a number beyond 2^53', () => {
  const { client } = fixture();
  const post = (seconds: string): Response => {
    const text = JSON.stringify(podNamed('x')).replace(
      '"spec":{',
      `"spec":{"terminationGracePeriodSeconds":${seconds},`,
    );
    return client.post(pods, text);
  };

  it('that no int64 holds is refused, as one that a client has rounded up', () => {
    const refused = post('9223372036854776000');
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /cannot unmarshal number 9223372036854776000 /);
  });

  it('that is the largest int64 keeps its digits', () => {
    const created = post('9223372036854775807');
    assert.equal(created.status, 201);
    for (const { text } of [created, client.get(`${pods}/x`), client.get(pods)]) {
      assert.match(text, /"terminationGracePeriodSeconds":9223372036854775807[,}]/);
    }
  });
});
