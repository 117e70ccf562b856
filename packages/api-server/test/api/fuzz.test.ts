import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import {
  apiVersionOf,
  isObject,
  type Resource,
  resources,
  type Shape,
  scalar,
  storedOnlyResources,
} from '@taintmgr/sim-cluster/server';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, jsonPatch, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
// @boundaries-ignore the cluster's own tests live in the same world
import { fc } from '../../../sim-cluster/test/world/fast-check.ts';
import { fixture } from '../world/api-fixture.ts';

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

const junk: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  null,
  '',
  'x',
  0,
  -1,
  1.5,
  true,
  [],
  {},
  [null],
  [{}],
  { x: null },
);

const scalars: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  string: fc.constantFrom('', 'a', 'x.io/b', 'Bad_Name', 'NoExecute', 'Exists'),
  bool: fc.boolean(),
  int32: fc.integer({ min: -2, max: 3 }),
  int64: fc.integer({ min: -2, max: 3 }),
  number: fc.double({ noNaN: true }),
  time: fc.constant('2026-01-01T00:00:00Z'),
  microTime: fc.constant('2026-01-01T00:00:00.000000Z'),
  intOrString: fc.constantFrom<Json>(1, '50%', '150%', 'x'),
  quantity: fc.constantFrom<Json>('100m', 1, 'x'),
  any: fc.oneof(junk, fc.record({ name: fc.constant('a'), state: junk, conditionType: junk })),
};

/** Values that nearly have a shape: most members fit, some do not, some are missing. */
function nearly(shape: Shape, depth: number = 0): fc.Arbitrary<Json> {
  const fitting = (): fc.Arbitrary<Json> => {
    if (typeof shape === 'string') return scalars[scalar(shape).name] ?? junk;
    if (shape.type === 'list') return fc.array(nearly(shape.items, depth + 1), { maxLength: 2 });
    if (shape.type === 'map') {
      const key = fc.constantFrom('a', 'x.io/b', 'constructor', '__proto__');
      return fc.dictionary(key, nearly(shape.values, depth + 1), { maxKeys: 2 });
    }
    const struct = shape.type === 'either' ? shape.struct : shape;
    const names = Object.keys(struct.fields);
    // Whole at the top, a few members below.
    const most = depth < 2 ? names.length : Math.min(4, names.length);
    return fc
      .subarray(names, { maxLength: most, minLength: depth === 0 ? most : 0 })
      .chain((kept) =>
        fc.record(
          Object.fromEntries(
            kept.map((name) => [name, nearly(struct.fields[name] as Shape, depth + 1)]),
          ),
        ),
      );
  };
  const fits = depth > 6 ? junk : fc.constant(null).chain(fitting);
  return fc.oneof({ weight: 300, arbitrary: fits }, { weight: 1, arbitrary: junk });
}

function pathOf({ group, version, plural, namespaced }: Resource): string {
  const root = group ? `/apis/${group}` : '/api';
  return `${root}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`;
}

const selected = { a: 'a' };
const containers = { containers: [{ name: 'c', image: 'x' }], restartPolicy: 'Always' };
const template = {
  selector: { matchLabels: selected },
  template: { metadata: { labels: selected }, spec: containers },
};

/** The object with what its kind cannot do without, so that the rest is looked at. */
function acceptable(resource: Resource, object: Json): unknown {
  const { spec, status, ...rest } = (isObject(object) ? object : {}) as KubeObject;
  const needed = resource.plural === 'pods' ? containers : template;
  const isWorkload = resource.generation && resource.plural !== 'poddisruptionbudgets';
  const whole = isWorkload ? { ...spec, ...needed } : spec;
  const involved = {
    involvedObject: { namespace: 'default' },
    regarding: { namespace: 'default' },
  };
  const about = resource.plural === 'events' ? involved : {};
  const identity = {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { name: 'a' },
  };
  return { ...rest, ...about, spec: whole, status, ...identity };
}

describe('whatever a client sends', () => {
  for (const resource of resources) {
    it(`about ${resource.plural} of ${resource.group || 'the core group'} is answered`, () => {
      const body = nearly(resource.schema);
      const type = fc.constantFrom(merge, strategic, applyType, jsonPatch);
      const subresource = fc.constantFrom('', '/status');
      fc.assert(
        fc.property(body, body, type, subresource, (first, second, patchType, below) => {
          const { api, client } = fixture();
          const path = pathOf(resource);
          const watch = client.watch(path, { headers: table });
          const answers = [
            client.post(path, first),
            client.post(path, acceptable(resource, first)),
            client.patch(`${path}/a${below}`, second, patchType, { query: { fieldManager: 'm' } }),
            client.put(`${path}/a${below}`, second),
            client.get(path, { headers: table }),
            client.delete(`${path}/a`, { body: second }),
          ];
          api.load([first, second]);
          answers.push(client.get(path, { headers: table }));
          for (const { status, ended } of answers)
            assert.ok(ended && status >= 200 && status < 600);
          assert.equal(watch.response().status, 200);
        }),
        // Kinds that are only stored have no rules to go through.
        { numRuns: storedOnlyResources.includes(resource) ? 20 : 150 },
      );
    });
  }

  it('as a path, a query, a selector or a token is answered', () => {
    const { client, clock } = fixture();
    const part = fc.constantFrom(
      'api',
      'apis',
      'v1',
      'apps',
      'namespaces',
      'pods',
      'default',
      'watch',
      'status',
      '%',
      '',
      '..',
    );
    const name = fc.constantFrom(
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'labelSelector',
      'fieldSelector',
      'watch',
      'timeoutSeconds',
      'sendInitialEvents',
      'pretty',
      'includeObject',
      'dryRun',
    );
    const value = fc.oneof(
      fc.constantFrom(
        '',
        '0',
        '1',
        'Exact',
        'NotOlderThan',
        'a in (b',
        '!',
        'a=b,',
        ',',
        '\\',
        'a notin ()',
        'e30',
        'bnVsbA',
      ),
      fc.string(),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
    fc.assert(
      fc.property(
        method,
        fc.array(part),
        fc.dictionary(name, value, { maxKeys: 4 }),
        (verb, parts, query) => {
          const answer = client.send(verb, `/${parts.join('/')}`, { query, body: '{}' });
          clock.advanceTo(clock.now() + 4_000_000);
          assert.ok(answer().ended);
        },
      ),
      { numRuns: 500 },
    );
  });
});
