// Whether volumes of a StatefulSet are still attached, as the API server answers it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import type { Outcome } from '@taintmgr/core';
import type { DrainQuestion } from '@taintmgr/core/drain';
import { namespace, node, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { drainAsking } from '../../../src/controller/procedures/drain-question.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { playSteps } from '../../world/steps.ts';

type Question = Extract<DrainQuestion, { kind: 'volumes' }>;

const question: Question = {
  kind: 'volumes',
  namespace: 'shop',
  statefulSet: 'db',
  nodes: ['n1', 'n2'],
  staying: ['db-1'],
  left: { pod: 'db-0', node: 'n1' },
};
const wait = (volume: string, node: string): string =>
  `volume ${volume} of pod db-0 to detach from node ${node}`;

/** A set of two pods with two volumes each, `pv-data-0` and so on, of which these are attached. */
class World {
  readonly api: ApiServer = new ApiServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  readonly requests: string[] = [];
  /** Answers of the server's that are put in the place of others, by a part of the path. */
  readonly instead = new Map<string, number>();

  constructor(attached: Readonly<Record<string, string>> = {}) {
    const { api } = this;
    api.create('namespaces', namespace('shop'));
    for (const name of ['n1', 'n2', 'n3']) api.create('nodes', node(name));
    const volumeClaimTemplates = ['data', 'logs'].map((name) => ({ metadata: { name }, spec: {} }));
    const labels = { app: 'db' };
    api.create('statefulsets', {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        ...{ serviceName: 'db', selector: { matchLabels: labels }, volumeClaimTemplates },
        template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db' }] } },
      },
    });
    for (const name of ['data', 'logs']) {
      for (const number of [0, 1]) this.#claim(`${name}-db-${number}`, `pv-${name}-${number}`);
    }
    this.#claim('data-db-0-backup', 'pv-of-nobody');
    for (const [volume, nodeName] of Object.entries(attached)) this.#attach(volume, nodeName);
  }

  ask(given: Partial<Question> = {}): Outcome {
    const asked = { ...question, ...given };
    const command = { kind: 'askForDrain', id: 'q1', drain: 'kernel', question: asked } as const;
    const { steps } = drainAsking(command, { wall: 0, isStale: () => false });
    return playSteps(steps, (request) => this.#answer(request));
  }

  /** What a node says of its volumes by itself. */
  say(name: string, status: object): void {
    const found = this.api.get('nodes', '', name) ?? assert.fail();
    this.api.update('nodes', { ...found, status: { ...found.status, ...status } }, 'status');
  }

  #answer(request: ApiRequest): Answer {
    this.requests.push(request.path);
    const [, code] = [...this.instead].find(([part]) => request.path.includes(part)) ?? [];
    if (code !== undefined) return { kind: 'response', status: code, headers: {}, body: 'no' };
    return answerOf(this.api, request);
  }

  #claim(name: string, volumeName: string): void {
    this.api.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'shop' },
      spec: { volumeName },
    });
    this.api.create('persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: { csi: { driver: 'disk.example.com', volumeHandle: `handle-${volumeName}` } },
    });
  }

  #attach(persistentVolumeName: string, nodeName: string): void {
    this.api.create('volumeattachments', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: `of-${persistentVolumeName}` },
      spec: { attacher: 'disk.example.com', nodeName, source: { persistentVolumeName } },
    });
  }
}

describe('whether volumes of a StatefulSet are detached', () => {
  for (const [name, attached, given, wanted] of [
    ['nothing is attached', {}, {}, 'done'],
    ['one is, of a pod that is gone', { 'pv-logs-0': 'n2' }, {}, wait('pv-logs-0', 'n2')],
    ['those of a pod that is there', { 'pv-data-1': 'n1', 'pv-logs-1': 'n1' }, {}, 'done'],
    ['one is, on a node of nobody', { 'pv-data-0': 'n3' }, {}, 'done'],
    ['a claim that only looks like it', { 'pv-of-nobody': 'n1' }, {}, 'done'],
    ['the set is gone', { 'pv-data-0': 'n1' }, { statefulSet: 'other' }, 'done'],
  ] as const) {
    it(`${wanted === 'done' ? 'yes' : 'no'}: ${name}`, () => {
      const outcome = new World(attached).ask(given);
      assert.deepEqual(
        outcome,
        wanted === 'done' ? { kind: 'done' } : { kind: 'changed', message: wanted },
      );
    });
  }

  it('no: the node still says so, though no attachment is left', () => {
    const called = 'kubernetes.io/csi/disk.example.com^handle-pv-data-0';
    const message = wait(called, 'n1');
    const attached = new World();
    attached.say('n1', { volumesAttached: [{ name: called, devicePath: '' }] });
    assert.deepEqual(attached.ask(), { kind: 'changed', message });
    const inUse = new World();
    inUse.say('n1', { volumesInUse: [called] });
    assert.deepEqual(inUse.ask(), { kind: 'changed', message });
    assert.deepEqual(inUse.ask({ left: { pod: 'db-0', node: 'n2' } }), { kind: 'done' });
  });

  it('yes: a claim has no volume yet, and an attachment none that is an object', () => {
    const world = new World();
    world.api.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data-db-2', namespace: 'shop' },
      spec: {},
    });
    world.api.create('volumeattachments', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'inline' },
      spec: {
        ...{ attacher: 'disk.example.com', nodeName: 'n1' },
        source: { inlineVolumeSpec: { csi: { driver: 'disk.example.com', volumeHandle: 'h' } } },
      },
    });
    assert.deepEqual(world.ask(), { kind: 'done' });
  });

  it('yes: its node is gone', () => {
    const outcome = new World().ask({ left: { pod: 'db-0', node: 'n9' } });
    assert.deepEqual(outcome, { kind: 'done' });
  });

  it('asks no node where nobody knows which pod went last', () => {
    const world = new World();
    assert.deepEqual(world.ask({ left: null }), { kind: 'done' });
    assert.deepEqual(world.requests, [
      '/apis/apps/v1/namespaces/shop/statefulsets/db',
      '/api/v1/namespaces/shop/persistentvolumeclaims?limit=500',
      '/apis/storage.k8s.io/v1/volumeattachments?limit=500',
    ]);
  });

  it('reads claims page by page', () => {
    const world = new World({ 'pv-data-0': 'n1' });
    for (let i = 0; i < 500; i++) {
      world.api.create('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: `a-${i}`, namespace: 'shop' },
        spec: {},
      });
    }
    assert.deepEqual(world.ask(), { kind: 'changed', message: wait('pv-data-0', 'n1') });
    const pages = world.requests.filter((path) => path.includes('persistentvolumeclaims'));
    assert.equal(pages.length, 2);
  });

  it('reads collections page by page', () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`other-${String(i).padStart(4, '0')}`, 'n1']),
    );
    const world = new World({ ...many, 'pv-data-0': 'n1' });
    assert.deepEqual(world.ask(), { kind: 'changed', message: wait('pv-data-0', 'n1') });
    const pages = world.requests.filter((path) => path.includes('volumeattachments'));
    assert.equal(pages.length, 2);
  });

  for (const part of [
    'statefulsets',
    'persistentvolumeclaims',
    'volumeattachments',
    'persistentvolumes/',
    'nodes',
  ]) {
    it(`nobody knows: ${part} may not be read`, () => {
      const world = new World();
      world.instead.set(part, 403);
      const outcome = world.ask();
      assert.equal(outcome.kind === 'failed' && outcome.status, 403);
    });
  }

  it('a server without attachments has not answered that nothing is attached', () => {
    const world = new World();
    world.instead.set('volumeattachments', 404);
    const message = 'the cluster has no attachments of volumes';
    assert.deepEqual(world.ask(), { kind: 'changed', message });
  });
});
