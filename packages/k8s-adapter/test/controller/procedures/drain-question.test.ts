// What a NodeDrain asks of objects and of Prometheus, by the requests that are sent and their answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import type { Outcome } from '@taintmgr/core';
import type { DrainQuestion } from '@taintmgr/core/drain';
import { namespace, node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  alertsRequest,
  drainAsking,
  objection,
  objectPath,
  readAlerts,
} from '../../../src/controller/procedures/drain-question.ts';
import { type Answer, heeded } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { playSteps } from '../../world/steps.ts';

type ObjectState = Extract<DrainQuestion, { kind: 'object' }>['object'];

function ask(question: DrainQuestion, answer: (request: ApiRequest) => Answer): Outcome {
  const command = { kind: 'askForDrain', id: 'q1', drain: 'kernel', question } as const;
  const given = { wall: Date.parse('2026-11-28T00:30:00Z'), isStale: () => false };
  // As calls hand answers on.
  return playSteps(drainAsking(command, given).steps, (one) => heeded(one, answer(one)));
}

function cluster(): ApiServer {
  const api = new ApiServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  api.create('namespaces', namespace('shop'));
  const { metadata, ...bare } = node('n1');
  const annotations = { 'example.com/backup': 'running' };
  api.create('nodes', { ...bare, metadata: { ...metadata, annotations } });
  api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
  const found = api.get('pods', 'shop', 'web') ?? assert.fail();
  const conditions = [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }];
  api.update('pods', { ...found, status: { conditions } }, 'status');
  return api;
}

const web: ObjectState = {
  ...{ apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web' },
  condition: { type: 'Ready', status: 'True' },
};
const n1: ObjectState = {
  ...{ apiVersion: 'v1', kind: 'Node', name: 'n1' },
  annotation: { key: 'example.com/backup', value: 'done' },
};

describe('what a NodeDrain asks of an object', () => {
  const api = cluster();
  const { namespace: _, ...clusterWide } = web;
  const annotation = { key: 'example.com/backup', value: 'done' };
  for (const [object, wanted] of [
    [{ ...web, condition: { type: 'Ready', status: 'False' } }, 'done'],
    [{ ...n1, annotation: { ...annotation, value: 'running' } }, 'done'],
    [web, 'condition Ready of Pod shop/web is False (ContainersNotReady), want True'],
    [
      { ...web, condition: { type: 'Backed', status: 'True' } },
      'Pod shop/web has no condition Backed',
    ],
    [n1, 'annotation example.com/backup of Node n1 is "running", want "done"'],
    [{ ...n1, annotation: { ...annotation, key: 'a' } }, 'Node n1 has no annotation a'],
    [{ ...n1, name: 'n2' }, 'Node n2 is not there'],
    [clusterWide, 'Pod web: want its namespace'],
    [{ ...n1, namespace: 'shop' }, 'Node n1: got namespace shop, but it belongs to no namespace'],
    [{ ...web, kind: 'Cluster' }, 'the cluster has no Cluster of v1'],
    [{ ...web, apiVersion: 'db.io/v1' }, 'the cluster has no db.io/v1'],
  ] as const) {
    it(wanted, () => {
      const outcome = ask({ kind: 'object', object: object as ObjectState }, (request) =>
        answerOf(api, request),
      );
      assert.equal('message' in outcome ? outcome.message : outcome.kind, wanted);
      assert.equal(outcome.kind, wanted === 'done' ? 'done' : 'changed');
    });
  }

  it('is not so while its condition is of an older generation', () => {
    const found = {
      metadata: { generation: 2 },
      status: { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }] },
    };
    const old = 'condition Ready of Pod shop/web is of an older generation';
    assert.equal(objection(web, found), old);
    assert.equal(objection(web, { ...found, metadata: { generation: 1 } }), null);
    const metadata = { generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(objection(web, { ...found, metadata }), 'Pod shop/web is being deleted');
  });

  it('is read where the kind is, not where a part of it is', () => {
    const resources = [
      { name: 'pods/status', kind: 'Pod', namespaced: true },
      { name: 'pods', kind: 'Pod', namespaced: true },
    ];
    const path = '/api/v1/namespaces/shop/pods/web';
    assert.deepEqual(objectPath(web, { resources }), { kind: 'path', path });
  });

  for (const [apiVersion, kind, plural] of [
    ['v1', 'Endpoints', 'endpoints'],
    ['gateway.networking.k8s.io/v1', 'Gateway', 'gateways'],
    ['metrics.k8s.io/v1beta1', 'NodeMetrics', 'nodes'],
    ['kafka.example.com/v1', 'Kafka', 'brokers'],
  ] as const) {
    it(`is read whatever its kind is called in paths: ${kind}, ${plural}`, () => {
      const metadata = { name: 'n1', annotations: { 'example.com/backup': 'done' } };
      const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const resources = [{ name: plural, kind, namespaced: false }];
      const bodies = new Map<string, object>([
        [group, { kind: 'APIResourceList', apiVersion: 'v1', resources }],
        [`${group}/${plural}/n1`, { apiVersion, kind, metadata }],
      ]);
      const outcome = ask({ kind: 'object', object: { ...n1, apiVersion, kind } }, ({ path }) => {
        const body = JSON.stringify(bodies.get(path) ?? assert.fail(path));
        return { kind: 'response', status: 200, headers: {}, body };
      });
      assert.deepEqual(outcome, { kind: 'done' });
    });
  }

  it('is not known where the API server refuses to say', () => {
    const body = JSON.stringify({ kind: 'Status', message: 'nodes is forbidden' });
    const outcome = ask({ kind: 'object', object: n1 }, ({ path }) =>
      path === '/api/v1'
        ? answerOf(api, { method: 'GET', path, headers: {}, body: null })
        : { kind: 'response', status: 403, headers: {}, body },
    );
    assert.equal(outcome.kind, 'failed');
    assert.equal('message' in outcome && outcome.message, 'nodes is forbidden');
  });
});

describe('what a NodeDrain asks of Prometheus', () => {
  const query = { url: 'http://p', query: 'ALERTS', timeout: 5000 };
  const found = (result: readonly object[]): string =>
    JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
  const response = (status: number, body: string): Answer => ({
    kind: 'response',
    status,
    headers: {},
    body,
  });
  for (const [answer, kind, message] of [
    [response(200, found([])), 'done', undefined],
    [response(200, found([{ metric: { alertname: 'DiskFull' } }])), 'changed', 'DiskFull fires'],
    [response(400, '{"status":"error","error":"parse error"}'), 'failed', 'http://p: parse error'],
    [response(503, found([])), 'failed', 'http://p: HTTP status 503'],
    [response(200, '<html>'), 'failed', 'http://p: the answer is not one of Prometheus'],
    [{ kind: 'none', message: 'no answer within 5s' }, 'failed', 'http://p: no answer within 5s'],
  ] as const) {
    it(message ?? kind, () => {
      const outcome = ask({ kind: 'noAlerts', query }, () => answer);
      assert.equal(outcome.kind, kind);
      assert.equal('message' in outcome ? outcome.message : undefined, message);
    });
  }
});

describe('what a NodeDrain asks of the clock', () => {
  const window = { schedule: '0 2 * * SAT', timeZone: 'Europe/Berlin', duration: 3_600_000 };
  const never = (): Answer => assert.fail('nothing is sent');

  it('is answered without a request, with the instant at which it changes', () => {
    const message = 'opens Sat 2026-11-28 02:00 Europe/Berlin';
    const until = Date.parse('2026-11-28T01:00:00Z');
    const outcome = ask({ kind: 'windows', windows: [window] }, never);
    assert.deepEqual(outcome, { kind: 'changed', message, until });
  });

  it('says until when a window is open', () => {
    const windows = [{ ...window, duration: 48 * 3_600_000, schedule: '0 2 * * FRI' }];
    const outcome = ask({ kind: 'windows', windows }, never);
    assert.deepEqual(outcome, { kind: 'done', until: Date.parse('2026-11-29T01:00:00Z') });
  });

  it('is not known where a window cannot be read: none of them is open then', () => {
    const windows = [
      { ...window, schedule: '* * * * *' },
      { ...window, timeZone: 'Europe/Berlni' },
    ];
    const outcome = ask({ kind: 'windows', windows }, never);
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.message, /^spec\.windows\[1\]: got schedule/);
  });
});

const vector = (...result: readonly object[]): object => {
  return { status: 'success', data: { resultType: 'vector', result } };
};
const disk = { metric: { __name__: 'ALERTS', alertname: 'DiskFull' }, value: [0, '1'] };

describe('an answer of Prometheus', () => {
  for (const [name, body, wanted] of [
    ['nothing', vector(), 'none'],
    ['one alert', vector(disk), 'some: DiskFull fires'],
    [
      'three series',
      vector({ metric: { __name__: 'up' } }, disk, disk),
      'some: up fires, and 2 more',
    ],
    ['a series without a name', vector({}), 'some: a series without a name fires'],
    [
      'a number',
      { status: 'success', data: { resultType: 'scalar', result: [0, '0'] } },
      'unknown: the query answers scalar, want a vector',
    ],
    ['an error', { status: 'error', error: 'parse error' }, 'unknown: parse error'],
    [
      'half an answer',
      { ...vector(), warnings: ['store s1 is down'] },
      'unknown: store s1 is down',
    ],
    ['a page', undefined, 'unknown: the answer is not one of Prometheus'],
    ['no data', { status: 'success' }, 'unknown: the query answers nothing, want a vector'],
  ] as const) {
    it(`of ${name}`, () => {
      const alerts = readAlerts(body);
      const text = alerts.kind === 'none' ? 'none' : `${alerts.kind}: ${alerts.message}`;
      assert.equal(text, wanted);
    });
  }

  it('is asked of another server than the API', () => {
    const url = 'http://p:9090/x';
    const { path, elsewhere } = alertsRequest({ url, query: 'ALERTS{a="b c"}', timeout: 5 });
    assert.equal(path, '/api/v1/query?query=ALERTS%7Ba%3D%22b%20c%22%7D');
    assert.deepEqual(elsewhere, { url, timeoutMs: 5 });
  });
});
