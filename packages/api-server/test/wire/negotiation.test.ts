import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '@taintmgr/sim-cluster';
import { negotiate } from '@taintmgr/sim-cluster/server';
import { humanDuration } from '../../src/table/duration.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

const meta = 'v=v1;g=meta.k8s.io';

describe('negotiation', () => {
  const accepted: readonly (readonly [string, string])[] = [
    ['*/*', 'object'],
    ['application/json', 'object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'object'],
    ['application/json;stream=watch', 'object'],
    [`application/json;as=Table;${meta}`, 'table'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json', 'table'],
    [`application/json;as=PartialObjectMetadata;${meta}`, 'partial'],
    [`application/json;as=PartialObjectMetadataList;${meta}`, 'partialList'],
    [`application/json;as=Bogus;${meta},application/json`, 'object'],
    [`application/json;as=constructor;${meta},application/json`, 'object'],
    [`text/html, application/json;as=Table;${meta}`, 'table'],
  ];
  for (const [accept, form] of accepted) {
    it(`${accept} is answered with ${form}`, () => {
      assert.equal(negotiate({ accept }, null).form, form);
    });
  }

  for (const accept of [
    'text/html',
    'application/*',
    'application/yaml',
    `application/json;as=X;${meta}`,
  ]) {
    it(`${accept} is not acceptable`, () => {
      assert.throws(
        () => negotiate({ accept }, null),
        (error) => error instanceof ApiError && error.code === 406,
      );
    });
  }

  for (const [path, status, text] of [
    [
      '/api/v1/namespaces/default',
      200,
      /^kind: Namespace\napiVersion: v1\nmetadata:\n {2}name: default\n/,
    ],
    ['/api/v1/namespaces', 200, /^kind: NamespaceList\n[\s\S]*\nitems:\n- metadata:\n/],
    ['/api/v1/namespaces/none', 404, /^kind: Status\n[\s\S]*reason: NotFound\n/],
    ['/apis/apps/v1', 200, /^kind: APIResourceList\n/],
    ['/api/v1/namespaces?watch=1', 406, /^kind: Status\n[\s\S]*reason: NotAcceptable\n/],
  ] as const) {
    it(`GET ${path} as application/yaml is ${status} in YAML`, () => {
      const { client } = fixture();
      const answer = client.get(path, { headers: { accept: 'application/yaml' } });
      assert.deepEqual(
        [answer.status, answer.headers['content-type']],
        [status, 'application/yaml'],
      );
      assert.match(answer.text, text);
    });
  }

  for (const [agent, parameter, pretty] of [
    ['kubectl/v1.36', null, false],
    ['curl/8.0', null, true],
    ['curl/8.0', 'false', false],
    ['kubectl/v1.36', 'true', true],
    ['kubectl/v1.36', '1', true],
  ] as const) {
    it(`${agent} with pretty=${parameter} is ${pretty ? '' : 'not '}indented`, () => {
      assert.equal(negotiate({ 'user-agent': agent }, parameter).pretty, pretty);
    });
  }

  it('indents without a final newline, and is compact with one', () => {
    const { client } = fixture();
    const path = '/api/v1/namespaces/default';
    assert.match(client.get(path).text, /^\{"kind":"Namespace",.*\}\n$/);
    assert.match(
      client.get(path, { query: { pretty: 'true' } }).text,
      /^\{\n {2}"kind": "Namespace",[\s\S]*\}$/,
    );
  });
});

describe('durations', () => {
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  for (const [seconds, text] of [
    [-5, '<invalid>'],
    [-1, '0s'],
    [119, '119s'],
    [120, '2m'],
    [5 * minute + 30, '5m30s'],
    [12 * minute + 30, '12m'],
    [2 * hour + 59 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 5 * minute, '7h5m'],
    [47 * hour, '47h'],
    [2 * day + 4 * hour, '2d4h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [800 * day, '2y70d'],
    [9 * 365 * day, '9y'],
  ] as const) {
    it(`${seconds} s are ${text}`, () => assert.equal(humanDuration(seconds * 1000), text));
  }
});

describe('tables', () => {
  const table = { accept: `application/json;as=Table;${meta}` };
  const cellsOf = (path: string, client: ReturnType<typeof fixture>['client']) =>
    client.get(path, { headers: table }).body.rows[0].cells;

  const statuses: readonly (readonly [string, object, object, string, string])[] = [
    ['pending', {}, { phase: 'Pending' }, '0/1', 'Pending'],
    ['evicted', {}, { phase: 'Failed', reason: 'Evicted' }, '0/1', 'Evicted'],
    [
      'waiting',
      {},
      { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull' } } }] },
      '0/1',
      'ErrImagePull',
    ],
    [
      'ready',
      {},
      { phase: 'Running', containerStatuses: [{ ready: true, state: { running: {} } }] },
      '1/1',
      'Running',
    ],
    [
      'crashed',
      {},
      { phase: 'Running', containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] },
      '0/1',
      'ExitCode:3',
    ],
    [
      'initialising',
      { initContainers: [{ name: 'i', image: 'x' }] },
      { phase: 'Pending', initContainerStatuses: [{ state: { running: {} } }] },
      '0/1',
      'Init:0/1',
    ],
  ];
  for (const [name, spec, status, ready, text] of statuses) {
    it(`show a pod ${name} as ${text}`, () => {
      const { client } = fixture();
      client.post(pods, podNamed('p', spec));
      client.patch(`${pods}/p/status`, { status });
      assert.deepEqual(cellsOf(pods, client).slice(1, 3), [ready, text]);
    });
  }

  it('show a pod that is going, and how often it restarted', () => {
    const { client, pass } = fixture();
    client.post(pods, podNamed('p', { nodeName: 'n' }));
    const finishedAt = '2026-01-01T00:00:00Z';
    const containerStatuses = [{ restartCount: 2, lastState: { terminated: { finishedAt } } }];
    client.patch(`${pods}/p/status`, { status: { phase: 'Running', containerStatuses } });
    client.delete(`${pods}/p`);
    pass(90_000);
    assert.deepEqual(cellsOf(pods, client).slice(2, 5), ['Terminating', '2 (90s ago)', '90s']);
  });

  for (const [name, conditions, spec, text] of [
    ['no conditions', [], {}, 'Unknown'],
    ['an unknown one', [{ type: 'Ready', status: 'Unknown' }], {}, 'NotReady'],
    [
      'a good one',
      [{ type: 'Ready', status: 'True' }],
      { unschedulable: true },
      'Ready,SchedulingDisabled',
    ],
  ] as const) {
    it(`show a node with ${name} as ${text}`, () => {
      const { client } = fixture();
      client.post(nodes, { metadata: { name: 'n' }, spec, status: { conditions } });
      assert.equal(cellsOf(nodes, client)[1], text);
    });
  }

  it('show workloads and budgets', () => {
    const { api, client } = fixture();
    const selector = { matchLabels: { app: 'x' } };
    const template = { metadata: { labels: { app: 'x' } }, spec: podNamed('').spec };
    const metadata = { name: 'w', namespace: 'default' };
    for (const plural of ['deployments', 'replicasets', 'statefulsets', 'daemonsets']) {
      api.create(plural, { metadata, spec: { selector, template, replicas: 2 } });
    }
    const ending = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
    api.create('jobs', { metadata, spec: { template: ending } });
    api.create('poddisruptionbudgets', { metadata, spec: { selector, maxUnavailable: '25%' } });
    const rowOf = (path: string) => cellsOf(`/apis/${path}`, client);
    const wide = ['c', 'registry.k8s.io/pause:3.10', 'app=x'];
    assert.deepEqual(rowOf('apps/v1/deployments'), ['w', '0/2', 0, 0, '0s', ...wide]);
    assert.deepEqual(rowOf('apps/v1/replicasets'), ['w', 2, 0, 0, '0s', ...wide]);
    assert.deepEqual(rowOf('apps/v1/statefulsets'), ['w', '0/2', '0s', ...wide.slice(0, 2)]);
    assert.deepEqual(rowOf('apps/v1/daemonsets'), ['w', 0, 0, 0, 0, 0, '<none>', '0s', ...wide]);
    assert.deepEqual(rowOf('batch/v1/jobs').slice(0, 5), ['w', 'Running', '0/1', '', '0s']);
    api.delete('jobs', 'default', 'w');
    api.create('jobs', { metadata, spec: { parallelism: 3, template: ending } });
    assert.equal(rowOf('batch/v1/jobs')[2], '0/1 of 3');
    assert.deepEqual(rowOf('policy/v1/poddisruptionbudgets'), ['w', 'N/A', '25%', 0, '0s']);
  });
});
