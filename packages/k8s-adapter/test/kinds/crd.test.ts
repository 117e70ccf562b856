// What a real API server asks of a CustomResourceDefinition, as far as it can be seen without one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { customResourceDefinitions } from '../../src/kinds/crd.ts';

interface OpenApi {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly additionalProperties?: OpenApi;
  readonly items?: OpenApi;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

interface Spec {
  readonly names: { readonly kind: string; readonly shortNames: readonly string[] };
  readonly versions: readonly {
    readonly schema: { readonly openAPIV3Schema: OpenApi };
    readonly additionalPrinterColumns: readonly { readonly jsonPath: string }[];
  }[];
}

const definitions = customResourceDefinitions().map(({ metadata, spec }) => {
  const { names, versions } = JSON.parse(JSON.stringify(spec)) as Spec;
  const [version] = versions;
  assert.ok(version);
  const { schema, additionalPrinterColumns: columns } = version;
  return { name: metadata.name, names, columns, schema: schema.openAPIV3Schema };
});

function* schemasOf(schema: OpenApi, path: string): Generator<readonly [string, OpenApi]> {
  yield [path, schema];
  const { properties = {}, items, additionalProperties } = schema;
  for (const [name, each] of Object.entries(properties)) yield* schemasOf(each, `${path}.${name}`);
  if (items) yield* schemasOf(items, `${path}[]`);
  if (additionalProperties) yield* schemasOf(additionalProperties, `${path}.*`);
}

/**
 * The fields of version 0.1.0 with a default. An API server fills a default into stored objects, and
 * a controller of a version before that field holds evictions for it. So a later field has none,
 * except below an optional field that is as new.
 */
const withDefaults: Readonly<Record<string, string>> = {
  EvictionPolicy: 'priority match limits[].onLimit',
  NodeTaintRule: 'condition.status holds clear taint.value nodeSelector onlyUnreachable dryRun',
  EvictionPause: ' scope deadlines readiness reason',
  NodeDrain: [
    'taint.value taint.effect paused laterNodes maintenancePlanned cordon tolerations',
    'pods pods.withoutController pods.withEmptyDir pods.order pods.singleReplicas pods.evictBy',
    'pods.waitDetached.onTimeout budgets budgets.policy order',
    'limits limits.nodesAtOnce limits.heldUpNodes limits.podsAtOnce',
    'timeouts timeouts.evictionRequest timeouts.rollout onFailure heeds nodeConditions',
    'windows[].timeZone gates[].object.condition.status gates[].noAlerts.timeout whileClosed',
    'beforeNode[].object.condition.status beforeNode[].onTimeout',
    'afterNode[].object.condition.status afterNode[].onTimeout',
  ].join(' '),
  TaintManager: '',
};

describe('the kinds', () => {
  it('have these names', () => {
    assert.deepEqual(
      definitions.map(({ name, names }) => `${name} ${names.kind} ${names.shortNames}`),
      [
        'evictionpolicies.taintmgr.dev EvictionPolicy evp',
        'nodetaintrules.taintmgr.dev NodeTaintRule ntr',
        'evictionpauses.taintmgr.dev EvictionPause epause',
        'nodedrains.taintmgr.dev NodeDrain ndrain',
        'taintmanagers.taintmgr.dev TaintManager tmgr',
      ],
    );
  });
  for (const { names, schema, columns } of definitions) {
    const all = [...schemasOf(schema, names.kind)];
    const inSpec = all.filter(([path]) => path.startsWith(`${names.kind}.spec`));

    it(`${names.kind} has no default beyond those of the first version`, () => {
      const found = inSpec.flatMap(([path, schema]) =>
        schema.default === undefined ? [] : path.replace(`${names.kind}.spec`, '').replace('.', ''),
      );
      assert.equal(found.join(' '), withDefaults[names.kind]);
    });

    it(`${names.kind} is structural`, () => {
      for (const [path, each] of all) {
        const { type, properties, additionalProperties, items } = each;
        assert.ok(type !== undefined || each['x-kubernetes-int-or-string'], path);
        assert.equal(items !== undefined, type === 'array', path);
        assert.ok(!(properties && additionalProperties), path);
        const known = Object.keys(properties ?? {});
        for (const name of each.required ?? []) assert.ok(known.includes(name), `${path}.${name}`);
        for (const key of each['x-kubernetes-list-map-keys'] ?? []) {
          assert.ok(items?.required?.includes(key), `${path}: ${key}`);
        }
      }
    });
    it(`${names.kind} bounds what rules have to look at`, () => {
      for (const [path, each] of inSpec) {
        const { type, maxLength, maxItems, maxProperties, additionalProperties } = each;
        const isShort = each.enum !== undefined || maxLength !== undefined;
        if (type === 'string') assert.ok(isShort, `${path} has no maxLength`);
        if (type === 'array') assert.ok(maxItems !== undefined, `${path} has no maxItems`);
        if (additionalProperties) assert.ok(maxProperties !== undefined, path);
      }
    });
    it(`${names.kind} is described`, () => {
      for (const [path, { description = '' }] of inSpec) {
        if (!/(\[\]|\*)$/.test(path)) assert.match(description, /\.$/, path);
      }
    });
    it(`${names.kind} has rules with messages of one line, about fields that exist`, () => {
      for (const [path, each] of all) {
        for (const { rule, message, fieldPath } of each['x-kubernetes-validations'] ?? []) {
          assert.doesNotMatch(`${rule}${message}`, /[\n\\]/, path);
          assert.notEqual(message, '', path);
          if (fieldPath) assert.ok(Object.hasOwn(each.properties ?? {}, fieldPath.slice(1)), path);
        }
      }
    });
    it(`${names.kind} lists words in their order, as the API server shows them`, () => {
      for (const [path, { enum: words = [] }] of all) {
        assert.deepEqual(words, words.toSorted(), path);
      }
    });
    it(`${names.kind} shows columns of fields that exist`, () => {
      const paths = new Set(all.map(([path]) => path.slice(names.kind.length)));
      for (const { jsonPath } of columns) {
        const path = jsonPath.replace(/\[(0|\?\(@\.type=="\w+"\))\]/, '[]');
        assert.ok(path === '.metadata.creationTimestamp' || paths.has(path), jsonPath);
      }
    });
  }
});

it('docs/drain.md and the definition have the same words for which pods hold up a node', () => {
  const page = readFileSync(new URL('../../../../docs/drain.md', import.meta.url), 'utf8');
  const [, pods = ''] = /`heldUpNodes`: .*with only (.*?)\.\n/.exec(page) ?? [];
  assert.notEqual(pods, '');
  assert.ok(JSON.stringify(customResourceDefinitions()).includes(`with only ${pods}.`));
});
