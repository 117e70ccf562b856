import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ApiRequest,
  deletePodRequest,
  evictPodRequest,
  getNodeRequest,
  type Sink,
  type Transport,
} from '@taintmgr/k8s-adapter';
import { isHeartbeat, rateLimited } from '../../src/rate-limit/rate-limit.ts';
import { dryRun } from '../../src/transport/dry-run.ts';
import { observed } from '../../src/transport/observed.ts';

interface Wire {
  readonly transport: Transport;
  readonly sent: { readonly request: ApiRequest; readonly sink: Sink }[];
  readonly hungUp: string[];
}

function wire(): Wire {
  const sent: Wire['sent'][number][] = [];
  const hungUp: string[] = [];
  const transport: Transport = {
    send: (request, sink) => {
      sent.push({ request, sink });
      return () => hungUp.push(request.path);
    },
  };
  return { transport, sent, hungUp };
}

function nothing(): Sink {
  return { head: () => {}, data: () => {}, end: () => {}, alive: () => {}, failed: () => {} };
}

const nobody = (): boolean => false;
const patch: ApiRequest = { ...getNodeRequest('n1'), method: 'PATCH' };
const pod = { namespace: 'shop', name: 'web-0', uid: 'u1', nodeName: 'n1' };

describe('a dry run', () => {
  const cases: readonly (readonly [request: ApiRequest, path: string, dryRunInBody: boolean])[] = [
    [getNodeRequest('n1'), '/api/v1/nodes/n1', false],
    // DELETE with a body is read by its body only.
    [deletePodRequest(pod), '/api/v1/namespaces/shop/pods/web-0', true],
    [{ ...deletePodRequest(pod), body: null }, '/api/v1/namespaces/shop/pods/web-0', true],
    [evictPodRequest(pod), '/api/v1/namespaces/shop/pods/web-0/eviction?dryRun=All', false],
    [patch, '/api/v1/nodes/n1?dryRun=All', false],
    [
      { ...patch, path: '/api/v1/nodes/n1?force=true' },
      '/api/v1/nodes/n1?force=true&dryRun=All',
      false,
    ],
  ];
  for (const [request, path, inBody] of cases) {
    it(`asks ${request.method} ${request.path} to change nothing`, () => {
      const { transport, sent } = wire();
      dryRun(transport, 'server', nobody).send(request, nothing());
      const [only] = sent;
      assert.ok(only);
      assert.equal(only.request.path, path);
      const body = only.request.body ?? '{}';
      assert.deepEqual(JSON.parse(body).dryRun, inBody ? ['All'] : undefined);
      if (request.body !== null && inBody) {
        assert.deepEqual(JSON.parse(body).preconditions, { uid: 'u1' });
      }
    });
  }
});

describe('a dry run without the API server', () => {
  it('accepts every write itself, later, and sends what reads', async () => {
    const { transport, sent } = wire();
    const client = dryRun(transport, 'client', nobody);
    client.send(getNodeRequest('n1'), nothing());
    const heard: string[] = [];
    const unheard = client.send(deletePodRequest(pod), {
      ...nothing(),
      head: () => assert.fail('hung up before'),
    });
    unheard();
    await new Promise<void>((resolve) => {
      client.send(evictPodRequest(pod), {
        head: (status) => heard.push(`head ${status}`),
        data: (chunk) => heard.push(`data ${chunk}`),
        end: resolve,
        alive: (age) => heard.push(`alive ${age}`),
        failed: (message) => heard.push(message),
      });
      assert.deepEqual(heard, [], 'not before send returns');
    });
    assert.deepEqual(heard, ['head 200', 'data {}']);
    assert.deepEqual(
      sent.map(({ request }) => request.path),
      ['/api/v1/nodes/n1'],
    );
  });
});

describe('an observed transport', () => {
  it('tells of each answer once, and hands all on', () => {
    const notices: (readonly (string | number)[])[] = [];
    const { transport, sent, hungUp } = wire();
    const heard: string[] = [];
    const watched = observed(transport, {
      waited: () => {},
      sent: (method, bytes) => notices.push(['sent', method, bytes]),
      answered: (method, code, seconds) => {
        assert.ok(seconds >= 0);
        notices.push([method, code]);
      },
      received: (method, bytes) => notices.push(['received', method, bytes]),
    });
    const hangUp = watched.send(getNodeRequest('n1'), {
      head: (status) => heard.push(`head ${status}`),
      data: (chunk) => heard.push(`data ${chunk}`),
      end: () => heard.push('end'),
      alive: (age) => heard.push(`alive ${age}`),
      failed: (message, stage) => heard.push(`failed ${message} ${stage}`),
    });
    const sink = sent[0]?.sink;
    sink?.head(200, {});
    sink?.alive(40);
    sink?.data('ü');
    sink?.data(new Uint8Array(3));
    sink?.end();
    sink?.failed('cut off', 'login');
    hangUp();
    watched.send(getNodeRequest('n2'), nothing());
    sent[1]?.sink.failed('refused');
    const body = '{"a":"ü"}';
    watched.send({ ...getNodeRequest('n3'), method: 'PATCH', body }, nothing());
    watched.send({ ...getNodeRequest('n4'), path: '/api/v1/nodes?watch=true' }, nothing());
    sent[3]?.sink.head(200, {});
    sent[3]?.sink.end();
    assert.deepEqual(heard, [
      'head 200',
      'alive 40',
      'data ü',
      'data 0,0,0',
      'end',
      'failed cut off login',
    ]);
    assert.deepEqual(notices, [
      ['sent', 'GET', 0],
      ['GET', '200'],
      ['received', 'GET', 5],
      ['sent', 'GET', 0],
      ['GET', '<error>'],
      ['sent', 'PATCH', 10],
      ['sent', 'GET', 0],
      ['GET', '200'],
    ]);
    assert.deepEqual(hungUp, ['/api/v1/nodes/n1']);
  });
});

describe('an observed answer that comes in one piece', () => {
  it('is told once, with its size, to whoever takes it so or in parts', () => {
    const body = Buffer.from('{"a":"ü"}');
    for (const takesWhole of [true, false]) {
      const notices: (readonly (string | number)[])[] = [];
      const heard: string[] = [];
      const { transport, sent } = wire();
      const watched = observed(transport, {
        waited: () => {},
        sent: () => {},
        answered: (method, code) => notices.push([method, code]),
        received: (method, bytes) => notices.push(['received', method, bytes]),
      });
      watched.send(getNodeRequest('n1'), {
        ...nothing(),
        data: (chunk) => heard.push(String(chunk)),
        end: () => heard.push('end'),
        ...(takesWhole && {
          answer: (status: number, _: object, whole: Uint8Array) => {
            heard.push(`${status} ${Buffer.from(whole)}`);
          },
        }),
      });
      sent[0]?.sink.answer?.(200, {}, body);
      assert.deepEqual(heard, takesWhole ? [`200 ${body}`] : [String(body), 'end']);
      assert.deepEqual(notices, [
        ['GET', '200'],
        ['received', 'GET', 10],
      ]);
    }
  });
});

describe('a rate limit', () => {
  const paths = ({ sent }: Wire): readonly string[] => sent.map(({ request }) => request.path);

  it('lets a burst through and then so many a second, in order', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const waits: number[] = [];
    const cable = wire();
    const limited = rateLimited(cable.transport, {
      qps: 10,
      burst: 2,
      now: () => now,
      exempt: ({ path }) => path.endsWith('/urgent'),
      onWait: (_, seconds) => waits.push(seconds),
    });
    const pass = (ms: number): void => {
      now += ms;
      t.mock.timers.tick(ms);
    };
    for (const name of ['1', '2', '3', '4']) limited.send(getNodeRequest(name), nothing());
    assert.deepEqual(paths(cable), ['/api/v1/nodes/1', '/api/v1/nodes/2']);
    limited.send(getNodeRequest('urgent'), nothing());
    assert.equal(paths(cable).at(-1), '/api/v1/nodes/urgent');
    cable.sent.pop();
    pass(99);
    assert.equal(cable.sent.length, 2);
    pass(1);
    assert.equal(cable.sent.length, 3);
    pass(100);
    assert.deepEqual(paths(cable).slice(2), ['/api/v1/nodes/3', '/api/v1/nodes/4']);
    assert.deepEqual(waits, [0, 0, 0.1, 0.2]);
    // After a pause the burst is there again, and no more than that.
    pass(10_000);
    for (const name of ['5', '6', '7']) limited.send(getNodeRequest(name), nothing());
    assert.equal(cable.sent.length, 6);
  });

  const heartbeats: readonly (readonly [path: string, isExempt: boolean])[] = [
    ['/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/taintmgr-controller', true],
    ['/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', true],
    ['/apis/taintmgr.dev/v1alpha1/taintmanagers/taintmgr/status?fieldManager=x', true],
    ['/apis/taintmgr.dev/v1alpha1/evictionpolicies', false],
    ['/api/v1/namespaces/shop/pods/web-0/eviction', false],
    ['/api/v1/namespaces/shop/events', false],
  ];
  for (const [path, isExempt] of heartbeats) {
    it(`${isExempt ? 'does not hold' : 'holds'} ${path}`, () => {
      assert.equal(isHeartbeat({ ...getNodeRequest('n1'), path }), isExempt);
    });
  }

  it('forgets who hangs up while waiting', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const cable = wire();
    const options = { qps: 10, burst: 1, now: () => now, exempt: () => false, onWait: () => {} };
    const limited = rateLimited(cable.transport, options);
    const hangUps = ['1', '2', '3'].map((name) => limited.send(getNodeRequest(name), nothing()));
    hangUps[1]?.();
    hangUps[0]?.();
    now += 200;
    t.mock.timers.tick(200);
    assert.deepEqual(paths(cable), ['/api/v1/nodes/1', '/api/v1/nodes/3']);
    assert.deepEqual(cable.hungUp, ['/api/v1/nodes/1']);
  });
});
