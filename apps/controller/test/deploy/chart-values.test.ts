// Every value of the chart does something, and a wrong one is refused with its path.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { takeoverDrift, takeoverManifests } from '@taintmgr/k8s-adapter';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { objectsOf, type Rendering, renderAll, skip } from './chart.ts';
import { titleOf, valuesOf, ways } from './chart-choices.ts';
import { violations } from './pod-security.ts';

const folder = new URL('../../../../deploy/helm/taintmgr/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const schema = JSON.parse(read('values.schema.json'));
const initial: Values = parse(read('values.yaml'));
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);

type Values = { readonly [name: string]: unknown };

/** `nodePressure.source` becomes values. */
function at(path: string, value: unknown): Values {
  const [first = '', ...rest] = path.split('.');
  return { [first]: rest.length === 0 ? value : at(rest.join('.'), value) };
}

/** Maps are merged, as helm does. */
function over(below: Values, above: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const before = merged[name];
    merged[name] = isMap(before) && isMap(value) ? over(before, value) : value;
  }
  return merged;
}

/** `/nodePressure/source: must be equal to one of the allowed values`, one for each fault. */
function faultsOf(values: Values): readonly string[] {
  if (validate(over(initial, values))) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const name = 'additionalProperty' in params ? ` "${params.additionalProperty}"` : '';
    return `${instancePath}: ${message}${name}`;
  });
}

const digest = `sha256:${'0'.repeat(64)}`;
const acts = { mode: 'evict' };
const drains = { mode: 'evict', nodeDrains: { enabled: true } };
const pressure = { nodePressure: { enabled: true } };
const network = { networkPolicy: { enabled: true } };
const pods = { podMonitor: { enabled: true, tokenSecret: { name: 'token' } } };

/** Each value, something that it may be, and what has to be chosen for it to count. */
const cases: readonly (readonly [path: string, value: unknown, beside?: Values])[] = [
  ['mode', 'delete'],
  ['deleteAfter', '1h30m', { mode: 'evict-then-delete' }],
  ['takeover.enabled', true, acts],
  ['takeover.repair', true, { mode: 'evict', takeover: { enabled: true } }],
  ['nodeLifecycle.enabled', true],
  ['nodeLifecycle.legacyPods', true, { nodeLifecycle: { enabled: true } }],
  ['deviceTaints.enabled', true],
  ['nodePressure.enabled', true],
  ['nodePressure.source', 'proxy', pressure],
  ['nodePressure.evictionHard', 'memory.available<1Gi', pressure],
  ['nodeDrains.enabled', true, acts],
  ['nodeDrains.rolloutRestart', true, drains],
  ['nodeDrains.nodeConditions', true, drains],
  ['nodeDrains.volumes', true, drains],
  ['nodeDrains.evictionRequests', true, drains],
  ['policies.deletions', true, acts],
  ['policies.evictions', true, acts],
  ['policies.evictionRequests', true, acts],
  ['limits.enabled', true, acts],
  ['guard.enabled', true],
  ['config', { eviction: { concurrentEvictions: 7 } }],
  ['image.repository', 'registry.example.com:5000/taintmgr'],
  ['image.tag', '1.2.3'],
  ['image.digest', digest],
  ['image.pullPolicy', 'Always'],
  ['imagePullSecrets', [{ name: 'registry' }]],
  ['replicas', 3],
  ['resources', { limits: { memory: '2Gi' } }],
  ['logging.format', 'text'],
  ['logging.verbosity', 2],
  ['extraArgs', ['--kube-api-qps=50']],
  ['extraEnv', [{ name: 'TZ', value: 'UTC' }]],
  ['priorityClassName', ''],
  ['resourceQuota.enabled', false],
  ['podDisruptionBudget.enabled', false],
  ['nodeSelector', { pool: 'system' }],
  ['tolerations', []],
  ['affinity', {}],
  ['topologySpreadConstraints', []],
  ['labels', { team: 'platform' }],
  ['annotations', { 'example.com/owner': 'platform' }],
  ['podLabels', { team: 'platform' }],
  ['podAnnotations', { 'example.com/inject': 'false' }],
  ['serviceAccount.annotations', { 'example.com/role': 'x' }],
  ['metrics.readers', [{ name: 'prometheus', namespace: 'monitoring' }]],
  ['metrics.tlsSecretName', 'serving'],
  ['tracing.endpoint', 'http://collector:4318'],
  ['serviceMonitor.enabled', true],
  ['serviceMonitor.interval', '1m', { serviceMonitor: { enabled: true } }],
  ['serviceMonitor.labels', { release: 'prometheus' }, { serviceMonitor: { enabled: true } }],
  ['podMonitor.enabled', true, { podMonitor: { tokenSecret: { name: 'token' } } }],
  ['podMonitor.interval', '1m', pods],
  ['podMonitor.labels', { release: 'prometheus' }, pods],
  ['podMonitor.tokenSecret.name', 'other', pods],
  ['podMonitor.tokenSecret.key', 'other', pods],
  ['prometheusRule.enabled', true],
  ['prometheusRule.labels', { release: 'prometheus' }, { prometheusRule: { enabled: true } }],
  [
    'prometheusRule.runbookUrl',
    'https://wiki.example.com/taintmgr',
    { prometheusRule: { enabled: true } },
  ],
  ['dashboard.enabled', true],
  ['dashboard.labels', { dashboards: 'yes' }, { dashboard: { enabled: true } }],
  ['dashboard.annotations', { folder: 'Nodes' }, { dashboard: { enabled: true } }],
  ['networkPolicy.enabled', true],
  ['networkPolicy.metricsFrom', [], network],
  ['networkPolicy.apiServer', [{ ipBlock: { cidr: '10.0.0.1/32' } }], network],
  ['networkPolicy.extraEgress', [{ ports: [{ port: 4318 }] }], network],
  ['crds.install', false],
  ['crds.keep', false],
];

/** Paths of all values that the schema has. */
function pathsOf(properties: Values, above = ''): readonly string[] {
  return Object.entries(properties).flatMap(([name, one]) => {
    const { properties: inner, default: value } = one as { properties?: Values; default?: unknown };
    if (name === 'global') return [];
    return inner && value === undefined ? pathsOf(inner, `${above}${name}.`) : [above + name];
  });
}

function textOf(rendering: Rendering): string {
  assert.ok(rendering.kind === 'rendered', JSON.stringify(rendering));
  return [...rendering.files]
    .filter(([name]) => name.endsWith('.yaml'))
    .map(([, text]) => text)
    .sort()
    .join('\n---\n');
}

describe('the values of the chart', () => {
  it('are all tried here', () => {
    assert.deepEqual(cases.map(([path]) => path).sort(), [...pathsOf(schema.properties)].sort());
  });

  it('are described, and as they are they are right', () => {
    const walk = (properties: Values, above: string): void => {
      for (const [name, one] of Object.entries(properties)) {
        const { description, properties: inner } = one as {
          readonly description?: string;
          readonly properties?: Values;
        };
        assert.match(description ?? '', /^[A-Z].*[.)]$/s, above + name);
        // Those of the configuration file are described where it is.
        if (inner && name !== 'config') walk(inner, `${above}${name}.`);
      }
    };
    walk(schema.properties, '');
    assert.deepEqual(faultsOf({}), []);
    assert.deepEqual(faultsOf({ global: { anything: 1 } }), []);
  });

  for (const [path, value, beside = {}] of cases) {
    it(`${path} is allowed by the schema`, () => {
      assert.deepEqual(faultsOf(over(beside, at(path, value))), []);
    });
  }

  describe('change what is installed', { skip }, () => {
    const beside = skip ? [] : renderAll(cases.map(([, , values = {}]) => ({ values })));
    const changed = skip
      ? []
      : renderAll(
          cases.map(([path, value, values = {}]) => ({ values: over(values, at(path, value)) })),
        );
    for (const [index, [path]] of cases.entries()) {
      it(path, () => {
        assert.notEqual(
          textOf(changed[index] ?? assert.fail()),
          textOf(beside[index] ?? assert.fail()),
        );
        const names = objectsOf(changed[index] ?? assert.fail()).map(nameOf);
        assert.equal(new Set(names).size, names.length);
      });
    }
  });

  const wrong: readonly (readonly [values: Values, fault: RegExp])[] = [
    [{ mode: 'drop' }, /^\/mode: must be equal to one of the allowed values$/],
    [{ mod: 'evict' }, /^: must NOT have additional properties "mod"$/],
    [at('nodePressure.sources', 'kubelet'), /^\/nodePressure: .* "sources"$/],
    [at('nodePressure.source', 'kubelets'), /^\/nodePressure\/source: must be equal/],
    [at('nodePressure.evictionHard', 'memory=1Gi'), /^\/nodePressure\/evictionHard: must match/],
    [{ deleteAfter: '10 minutes' }, /^\/deleteAfter: must match pattern/],
    [at('takeover.enabled', 'yes'), /^\/takeover\/enabled: must be boolean$/],
    [{ replicas: 1.5 }, /^\/replicas: must be integer,null$/],
    [{ replicas: -1 }, /^\/replicas: must be >= 0$/],
    [at('image.digest', 'sha256:abc'), /^\/image\/digest: must match pattern/],
    [at('image.repository', 'a@sha256:b'), /^\/image\/repository: must match pattern/],
    [{ extraArgs: ['kube-api-qps'] }, /^\/extraArgs\/0: must match pattern/],
    [{ tolerations: 'all' }, /^\/tolerations: must be array$/],
    [at('metrics.readers', [{ name: 'a' }]), /^\/metrics\/readers\/0: .* 'namespace'$/],
    [at('config.eviction', { mode: 'drop' }), /^\/config\/eviction\/mode: must be equal/],
    [at('config.evictions', {}), /^\/config: must NOT have .* "evictions"$/],
    [at('labels.team', 1), /^\/labels\/team: must be string$/],
    [at('prometheusRule.runbookUrl', 'wiki'), /^\/prometheusRule\/runbookUrl: must match/],
  ];
  for (const [values, fault] of wrong) {
    it(`refuse ${JSON.stringify(values)}`, () => {
      assert.match(faultsOf(values).join('\n'), fault);
    });
  }
});

describe('values that do not go together', { skip }, () => {
  const together: readonly (readonly [values: Values, message: RegExp])[] = [
    [
      at('takeover.enabled', true),
      /takeover\.enabled: got true with mode observe, want mode delete/,
    ],
    [at('takeover.repair', true), /takeover\.repair: got true without takeover\.enabled/],
    [
      { mode: 'evict', takeover: { enabled: true }, nodeLifecycle: { enabled: true } },
      /takeover\.enabled: got true with nodeLifecycle\.enabled/,
    ],
    [at('nodeDrains.enabled', true), /nodeDrains\.enabled: got true with mode observe/],
    [at('limits.enabled', true), /limits\.enabled: got true with mode observe/],
    [at('policies.deletions', true), /policies\.deletions: got true with mode observe/],
    [at('nodeDrains.volumes', true), /nodeDrains\.volumes: got true without nodeDrains\.enabled/],
    [at('nodeLifecycle.legacyPods', true), /legacyPods: got true without nodeLifecycle\.enabled/],
    [at('podMonitor.enabled', true), /podMonitor\.tokenSecret\.name: got nothing/],
  ];
  const renderings = skip ? [] : renderAll(together.map(([values]) => ({ values })));
  for (const [index, [values, message]] of together.entries()) {
    it(JSON.stringify(values), () => {
      const rendering = renderings[index];
      assert.ok(rendering?.kind === 'refused', 'it was rendered');
      assert.match(rendering.message, message);
    });
  }
});

function nameOf({ kind, metadata: { name, namespace = '' } }: KubeObject): string {
  return `${kind} ${namespace}/${name}`;
}

/** Those of a rendering, hooks included. */
function podSpecs(rendering: Rendering): readonly KubeObject['spec'][] {
  const objects = parseAllDocuments(textOf(rendering)).map((document) => document.toJS());
  return objects.flatMap((object) => {
    if (object?.kind === 'Deployment') return [object.spec.template.spec];
    return object?.kind === 'Pod' ? [object.spec] : [];
  });
}

describe('the objects of the chart', { skip }, () => {
  const renderings = skip ? [] : renderAll(ways.map((way) => ({ values: valuesOf(way) })));
  for (const [index, way] of ways.entries()) {
    it(`are what Pod Security calls restricted: ${titleOf(way)}`, () => {
      const specs = podSpecs(renderings[index] ?? assert.fail());
      assert.equal(specs.length, 2);
      assert.deepEqual(specs.map(violations), [[], []]);
    });
  }

  it('are in the namespace of the release, and no rights are given to accounts of another', () => {
    const [rendering] = renderAll([
      { namespace: '1234', release: 'other', values: { mode: 'evict', limits: { enabled: true } } },
    ]);
    const objects = objectsOf(rendering ?? assert.fail());
    const fixed = ['kube-system', 'kube-node-lease'];
    for (const { metadata, subjects = [] } of objects) {
      if (metadata.namespace !== undefined && !fixed.includes(metadata.namespace)) {
        assert.equal(metadata.namespace, '1234');
      }
      for (const subject of subjects) assert.equal(subject.namespace, '1234');
    }
    assert.doesNotMatch(textOf(rendering ?? assert.fail()), /taintmgr-system/);
  });

  it('say each label once, and of those that are said twice the special one', () => {
    const team = (value: string): Values => ({ enabled: true, labels: { team: value } });
    const [rendering] = renderAll([
      {
        values: {
          labels: {
            team: 'all',
            'app.kubernetes.io/name': 'other',
            'app.kubernetes.io/part-of': 'other',
          },
          podLabels: { 'app.kubernetes.io/name': 'other', 'app.kubernetes.io/part-of': 'pods' },
          serviceMonitor: team('monitor'),
          podMonitor: { ...team('pods'), tokenSecret: { name: 'token' } },
          prometheusRule: team('rule'),
          dashboard: team('dashboard'),
        },
      },
    ]);
    const documents = parseAllDocuments(textOf(rendering ?? assert.fail()));
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    const objects = documents.flatMap((document): readonly KubeObject[] => document.toJS() ?? []);
    const labelsOf = (kind: string): Values =>
      objects.find((one) => one.kind === kind)?.metadata.labels ?? assert.fail(kind);
    const kinds = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'ConfigMap', 'Service'];
    const teams = kinds.map((kind) => labelsOf(kind).team);
    assert.deepEqual(teams, ['monitor', 'pods', 'rule', 'dashboard', 'all']);
    const { metadata, spec } = objects.find(({ kind }) => kind === 'Deployment') ?? assert.fail();
    // What selectors go by stays.
    for (const [labels, partOf] of [
      [metadata.labels, 'other'],
      [spec.template.metadata.labels, 'pods'],
    ]) {
      assert.equal(labels['app.kubernetes.io/name'], 'taintmgr');
      assert.equal(labels['app.kubernetes.io/part-of'], partOf);
    }
  });

  it('take names that look like numbers as text', () => {
    const [rendering] = renderAll([
      {
        values: {
          mode: 'evict-then-delete',
          priorityClassName: '1',
          metrics: { tlsSecretName: '2', readers: [{ name: '3', namespace: '4' }] },
          podMonitor: { enabled: true, tokenSecret: { name: '5', key: '6' } },
        },
      },
    ]);
    const objects = objectsOf(rendering ?? assert.fail());
    const of = (kind: string): KubeObject =>
      objects.find((one) => one.kind === kind) ?? assert.fail(kind);
    const pod = of('Deployment').spec.template.spec;
    const [endpoint] = of('PodMonitor').spec.podMetricsEndpoints;
    const binding = objects.find(
      ({ kind, metadata }) =>
        kind === 'ClusterRoleBinding' && metadata.name === 'taintmgr-metrics-reader',
    );
    const [subject] = binding?.subjects ?? assert.fail();
    assert.deepEqual(
      [pod.priorityClassName, pod.volumes[0].secret.secretName, subject.name, subject.namespace],
      ['1', '2', '3', '4'],
    );
    assert.deepEqual(endpoint.authorization.credentials, { name: '5', key: '6' });
    assert.deepEqual(of('ResourceQuota').spec.scopeSelector.matchExpressions[0].values, ['1']);
  });

  it('let the policies of takeover exempt the account that the release has', () => {
    const annotations = { team: 'nodes' };
    const values = { mode: 'evict', takeover: { enabled: true }, annotations };
    const [rendering] = renderAll([{ namespace: 'elsewhere', values }]);
    const objects = objectsOf(rendering ?? assert.fail());
    const wanted = takeoverManifests({
      manager: 'taintmgr',
      users: ['system:serviceaccount:elsewhere:taintmgr-controller'],
    });
    for (const one of wanted) {
      const installed =
        objects.find(
          ({ kind, metadata }) => kind === one.kind && metadata.name === one.metadata.name,
        ) ?? assert.fail();
      assert.deepEqual(takeoverDrift(installed, one), []);
      assert.equal(installed.metadata.annotations?.team, 'nodes');
    }
  });

  it('leave the definitions when they go, unless that is not wanted', () => {
    const [kept, gone] = renderAll([{}, { values: { crds: { keep: false } } }]).map((one) =>
      objectsOf(one)
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy']),
    );
    assert.deepEqual(kept, Array(5).fill('keep'));
    assert.deepEqual(gone, Array(5).fill(undefined));
  });
});
