import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

// Mistakes of clients that a real server answers, so that tests against this one find them too.

describe('a path that ends in a slash', () => {
  const cases = [
    [`${pods}/`, 400, 'name must be provided'],
    [`${nodes}/`, 400, 'name must be provided'],
    ['/api/v1/pods/', 404, 'the server could not find the requested resource'],
    [`${pods}/p/`, 404, 'the server could not find the requested resource'],
  ] as const;
  for (const [path, status, message] of cases) {
    it(`${path} is refused, and nothing of the collection goes`, () => {
      const { client } = fixture();
      client.post(pods, podNamed('p'));
      for (const answer of [client.get(path), client.delete(path)]) {
        assert.deepEqual([answer.status, answer.body.message], [status, message]);
      }
      assert.equal(client.get(pods).body.items.length, 1);
    });
  }
});

describe('a body that is no JSON', () => {
  const cases = [
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {}\n',
      "invalid character 'a' looking for beginning of value (61706956657273696f6e3a2076310a6b696e643a20506f640a6d65746164 ...)",
    ],
    ['[1 2]', "invalid character '2' after array element (5b3120325d)"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair ({"a":1 "b"})`],
    ['{"a" 1}', `invalid character '1' after object key ({"a" 1})`],
    ['{a}', "invalid character 'a' looking for beginning of object key string ({a})"],
    ['{} x', "invalid character 'x' after top-level value ({} x)"],
    [
      `{"metadata":{"name":"${'n'.repeat(30)}"}`,
      `unexpected end of JSON input ({"metadata":{"name":"nnnnnnnnn ...)`,
    ],
  ] as const;
  for (const [sent, text] of cases) {
    it(`is refused with its beginning: ${JSON.stringify(sent)}`, () => {
      const { status, body } = fixture().client.post(pods, sent);
      assert.equal(status, 400);
      assert.equal(
        body.message,
        `the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: ${text}`,
      );
    });
  }
});

describe('an unknown field', () => {
  const node = `${nodes}/n1`;

  it('is refused in an apply, whatever is asked of field validation', () => {
    const { client } = fixture();
    const configuration = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spce: {} };
    for (const fieldValidation of ['Ignore', 'Warn', 'Strict']) {
      const query = { fieldManager: 'm', fieldValidation };
      const { status, body } = client.patch(node, configuration, applyType, { query });
      assert.equal(status, 400);
      assert.match(body.message, /unknown field "spce"$/);
    }
    assert.equal(client.get(node).status, 404);
  });

  it('of a patch that is validated strictly is an invalid patch', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    for (const type of [merge, strategic]) {
      const query = { fieldValidation: 'Strict' };
      const { status, body } = client.patch(node, { spce: {} }, type, { query });
      assert.equal(status, 422);
      assert.deepEqual(
        body.details.causes.map(({ field }: { readonly field: string }) => field),
        ['patch'],
      );
    }
  });

  it('is refused in an apply of a custom resource too', () => {
    const { client, pass } = fixture();
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } },
    };
    const names = { plural: 'widgets', kind: 'Widget' };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
    });
    pass(1000);
    const kind = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
    const path = '/apis/example.com/v1/widgets/w';
    const query = { fieldManager: 'm', fieldValidation: 'Ignore' };
    const { status, body } = client.patch(path, { ...kind, spec: { a: 1 } }, applyType, { query });
    assert.equal(status, 400);
    assert.match(body.message, /unknown field "spec.a"$/);
  });
});

describe('an owner', () => {
  const causesOf = (owner: object): readonly (readonly string[])[] => {
    const { client } = fixture();
    const reference = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', ...owner };
    const answer = client.post(pods, podNamed('p', {}, { ownerReferences: [reference] }));
    const causes = answer.body.details?.causes ?? [];
    return causes.map(
      ({ field, message }: { readonly field: string; readonly message: string }) => [
        field,
        message.replace(/^Invalid value: .*: /, ''),
      ],
    );
  };
  const at = 'metadata.ownerReferences';
  const cases = [
    [{}, []],
    [{ apiVersion: 'apps/v1' }, []],
    [{ apiVersion: 'a/b/c' }, [[`${at}.apiVersion`, 'version must not be empty']]],
    [{ uid: '' }, [[`${at}.uid`, 'must not be empty']]],
    [{ kind: 'Event' }, [[at, '/v1, Kind=Event is disallowed from being an owner']]],
  ] as const;
  for (const [owner, causes] of cases) {
    it(`${JSON.stringify(owner)}: ${causes.length === 0 ? 'may be' : 'is refused'}`, () => {
      assert.deepEqual(causesOf(owner), causes);
    });
  }
});

describe('a PUT', () => {
  it('of an object without a name says that it has none', () => {
    const { client } = fixture();
    const { status, body } = client.put(`${nodes}/n1`, { metadata: {} });
    assert.equal(status, 400);
    assert.equal(
      body.message,
      'the name of the object (n1 based on URL) was undeterminable: name must be provided',
    );
  });

  it('at version 0 is of any version', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1' } });
    const metadata = { name: 'n1', resourceVersion: '0', labels: { a: '1' } };
    assert.equal(client.put(`${nodes}/n1`, { metadata }).status, 200);
  });

  it('of the status of a node may name owners, of that of a pod it may not', () => {
    const { client } = fixture();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
    client.post(nodes, { metadata: { name: 'n1' } });
    client.post(pods, podNamed('p'));
    const owners = (path: string): number | undefined =>
      client.patch(`${path}/status`, { metadata: { ownerReferences } }, merge).body.metadata
        .ownerReferences?.length;
    assert.deepEqual([owners(`${nodes}/n1`), owners(`${pods}/p`)], [1, undefined]);
  });
});

describe('a field selector', () => {
  const cases = [
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\xb', 'invalid field selector: invalid escape sequence: \\x'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['metadata.name=a\\,b\\=c\\\\', null],
  ] as const;
  for (const [fieldSelector, message] of cases) {
    it(`${fieldSelector} is ${message ? 'refused' : 'understood'}`, () => {
      const { client } = fixture();
      const { status, body } = client.get(pods, { query: { fieldSelector } });
      assert.equal(status, message ? 400 : 200);
      if (message) assert.equal(body.message, message);
    });
  }
});

describe('an Accept header', () => {
  const one = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  const cases = [
    ['', 200],
    [one, 406],
    [`${one.replace('Metadata;', 'MetadataList;')}`, 200],
  ] as const;
  for (const [accept, status] of cases) {
    it(`"${accept}" for a list: ${status}`, () => {
      const { client } = fixture();
      assert.equal(client.get(pods, { headers: { accept } }).status, status);
    });
  }
});

describe('a change of how an object goes', () => {
  const cases = [
    [{ deletionTimestamp: '2020-01-01T00:00:00Z' }, '"2020-01-01T00:00:00Z"'],
    [{ deletionGracePeriodSeconds: 3 }, '3'],
  ] as const;
  for (const [metadata, shown] of cases) {
    const [name] = Object.keys(metadata);
    it(`is none that a client can make: ${name}`, () => {
      const { client } = fixture();
      client.post(pods, podNamed('p'));
      for (const path of [`${pods}/p`, `${pods}/p/status`]) {
        const { status, body } = client.patch(path, { metadata }, merge);
        assert.deepEqual(
          [status, body.message],
          [
            422,
            `Pod "p" is invalid: metadata.${name}: Invalid value: ${shown}: field is immutable`,
          ],
        );
      }
    });
  }

  it('is not made by one who leaves it out', () => {
    const { client } = fixture();
    client.post(pods, podNamed('p', {}, { finalizers: ['x.io/a'] }));
    const { deletionTimestamp, deletionGracePeriodSeconds } = client.delete(`${pods}/p`).body
      .metadata;
    const metadata = {
      deletionTimestamp: null,
      deletionGracePeriodSeconds: null,
      labels: { a: '1' },
    };
    const left = client.patch(`${pods}/p`, { metadata }, merge).body.metadata;
    assert.deepEqual(
      [left.deletionTimestamp, left.deletionGracePeriodSeconds],
      [deletionTimestamp, deletionGracePeriodSeconds],
    );
  });
});

describe('an option that is empty', () => {
  const number = 'strconv.ParseInt: parsing "": invalid syntax';
  const dryRun = 'dryRun: Unsupported value: [""]: supported values: "All"';
  const cases = [
    ['GET', pods, { limit: '' }, 400, number],
    ['GET', pods, { timeoutSeconds: '' }, 400, number],
    ['DELETE', `${pods}/p`, { gracePeriodSeconds: '' }, 400, number],
    [
      'DELETE',
      `${pods}/p`,
      { dryRun: '' },
      422,
      `DeleteOptions.meta.k8s.io "" is invalid: ${dryRun}`,
    ],
    ['POST', pods, { dryRun: '' }, 422, `CreateOptions.meta.k8s.io "" is invalid: ${dryRun}`],
    [
      'PATCH',
      `${pods}/p`,
      { force: '' },
      422,
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    ],
  ] as const;
  for (const [method, path, query, code, message] of cases) {
    it(`is not taken for one that is left out: ${method} ${JSON.stringify(query)}`, () => {
      const { client } = fixture();
      client.post(pods, podNamed('p'));
      const { status, body } = {
        GET: () => client.get(path, { query }),
        DELETE: () => client.delete(path, { query }),
        POST: () => client.post(path, podNamed('q'), { query }),
        PATCH: () => client.patch(path, {}, merge, { query }),
      }[method]();
      assert.deepEqual([status, body.message], [code, message]);
    });
  }
});
