// Values that Go's own readers refuse, in their words.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

describe('a quantity', () => {
  const wrongForm =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const read: readonly (readonly [string | number, string | null])[] = [
    ['100m', null],
    ['1.5Gi', null],
    ['1e3', null],
    ['-1', null],
    [' 2 ', null],
    [2, null],
    ['abc', wrongForm],
    ['', wrongForm],
    ['1.2.3', wrongForm],
    ['1 Gi', wrongForm],
    ['5i', "unable to parse quantity's suffix"],
    ['5Gm', "unable to parse quantity's suffix"],
  ];
  for (const [cpu, error] of read) {
    it(`${JSON.stringify(cpu)} is ${error === null ? 'taken' : 'refused'}`, () => {
      const { client } = fixture();
      const container = { name: 'c', image: 'i', resources: { requests: { cpu } } };
      const { status, body } = client.post(pods, podNamed('p', { containers: [container] }));
      assert.equal(status, error === null ? 201 : 400);
      const said = `Pod in version "v1" cannot be handled as a Pod: ${error}`;
      if (error !== null) assert.equal(body.message, said);
    });
  }
});

describe('a quantity is stored', () => {
  const written: readonly (readonly [string | number, string])[] = [
    [0.5, '500m'],
    [2, '2'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1024Mi', '1Gi'],
    ['1025Mi', '1025Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['1000000', '1M'],
    ['1e3', '1e3'],
    ['1e5', '100e3'],
    [' 2 ', '2'],
    ['+3', '3'],
    ['-1024Mi', '-1Gi'],
    ['0Mi', '0'],
    ['0.00000000001', '1n'],
    ['1e3000000', '9223372036854775807'],
    ['1e-3000000', '1e-9'],
    ['999E', '9223372036854775807'],
  ];
  for (const [given, stored] of written) {
    it(`${JSON.stringify(given)} as ${stored}`, () => {
      const { client } = fixture();
      const requests = { cpu: given };
      const { body } = client.post(pods, podNamed('p', { overhead: requests }));
      assert.equal(body.spec?.overhead?.cpu, stored);
    });
  }
});

describe('a selector by more or less', () => {
  const selected: readonly (readonly [string, string | null])[] = [
    ['x>1', null],
    ['x<9223372036854775807', null],
    ['x>abc', 'abc'],
    ['x>1.5', '1.5'],
    ['x<9223372036854775808', '9223372036854775808'],
  ];
  for (const [labelSelector, wrong] of selected) {
    it(`${labelSelector} is ${wrong === null ? 'taken' : 'refused'}`, () => {
      const { status, body } = fixture().client.get(nodes, { query: { labelSelector } });
      assert.equal(status, wrong === null ? 200 : 400);
      if (wrong === null) return;
      const said = `values[0]: Invalid value: ${JSON.stringify(wrong)}: for 'Gt', 'Lt' operators, the value must be an integer`;
      assert.ok(body.message?.endsWith(said), body.message);
    });
  }
});

describe('a binding', () => {
  const bind = (name: string, metadata: object, spec: object = {}) => {
    const { client } = fixture();
    client.post(pods, podNamed(name, spec));
    const body = { metadata: { name, ...metadata }, target: { kind: 'Node', name: 'n' } };
    return { client, ...client.post(`${pods}/${name}/binding`, body) };
  };

  it('is refused for another pod of the name, and for another state of it', () => {
    const { client, status, body } = bind('p', { uid: 'other' });
    assert.equal(status, 409);
    const { uid } = client.get(`${pods}/p`).body.metadata;
    assert.equal(
      body.message,
      `Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: /registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
    );
    assert.equal(bind('p', { resourceVersion: '1' }).status, 409);
    assert.equal(bind('p', {}).status, 201);
  });

  it('is refused for a pod that waits at a gate', () => {
    const { status, body } = bind('p', {}, { schedulingGates: [{ name: 'example.com/g' }] });
    assert.equal(status, 409);
    assert.equal(
      body.message,
      'Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates',
    );
  });
});
