import assert from 'node:assert/strict';
import { ServedCluster } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { VirtualClock } from '@taintmgr/sim-cluster';
import { takeoverCollection, takeoverManifests } from '../../src/takeover/manifests.ts';

export const us = 'system:serviceaccount:taintmgr-system:taintmgr-controller';
const upstream = 'system:serviceaccount:kube-system:node-controller';

const manager = 'taintmgr';
const managers = '/apis/taintmgr.dev/v1alpha1/taintmanagers';
const start = Date.parse('2026-01-01T00:00:00Z');

/** What a restart of the API server has to bring back. */
const kinds = [
  'customresourcedefinitions',
  'namespaces',
  'taintmanagers.taintmgr.dev',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'pods',
];

/** Left out: nothing is said of it. */
export interface Beat {
  readonly agoMs?: number;
  readonly enabled?: boolean;
  readonly deviceTaints?: boolean;
  readonly holdReadiness?: object;
}

interface Answer {
  readonly code: number;
  readonly text: string;
}

/** What somebody writes into the status of a pod. */
export interface Mark {
  readonly by?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly conditions: readonly object[];
}

/** A cluster that has the policies, and two namespaces: `in` is opted in, `out` is not. */
export class VetoWorld {
  readonly clock: VirtualClock = new VirtualClock(start);
  cluster: ServedCluster = new ServedCluster({ clock: this.clock, seed: 1 });

  constructor() {
    const { cluster } = this;
    cluster.start();
    for (const [name, labels] of [
      ['in', { 'taintmgr.dev/takeover': 'enabled' }],
      ['out', {}],
    ] as const) {
      cluster.api.create('namespaces', { metadata: { name, labels } });
    }
    for (const definition of customResourceDefinitions()) {
      cluster.api.create('customresourcedefinitions', structuredClone(definition));
    }
    for (const manifest of takeoverManifests({ manager, users: [us] })) {
      this.#expect(201, 'POST', takeoverCollection(manifest.kind), manifest);
    }
    this.pass(3000);
    const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
    this.#expect(201, 'POST', managers, { ...object, metadata: { name: manager } });
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms);
  }

  /** Another API server in its place, which knows what was stored and nothing else. */
  restart(): void {
    const { api } = this.cluster;
    const stored = kinds.flatMap((kind) => api.list(kind));
    this.cluster.stop();
    this.cluster = new ServedCluster({
      clock: this.clock,
      seed: 2,
      snapshot: structuredClone(stored),
    });
    this.cluster.start();
  }

  /** The leader's heartbeat, and what it says with it. */
  beat({ agoMs = 0, enabled, ...said }: Beat): void {
    const renewTime = new Date(this.clock.now() - agoMs).toISOString();
    const takeover = { ...(enabled !== undefined && { enabled }), ...said };
    const value = { renewTime, takeover };
    const patch = [{ op: 'add', path: '/status', value }];
    this.#expect(200, 'PATCH', `${managers}/${manager}/status`, patch, 'json-patch');
    this.pass(10);
  }

  /** A pod with these conditions. */
  pod(name: string, conditions: readonly object[] = [], metadata: object = {}, spec = {}): void {
    for (const namespace of ['in', 'out']) {
      const containers = [{ name: 'c', image: 'i' }];
      const { api } = this.cluster;
      const made = api.create('pods', {
        metadata: { ...metadata, name, namespace },
        spec: { containers, ...spec },
      });
      api.update('pods', { ...made, status: { ...made.status, conditions } }, 'status');
    }
  }

  /** Null, or the words in which the API server refuses this. */
  refusal({ by = upstream, namespace = 'in', pod = 'p', conditions }: Mark): string | null {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}/status?dryRun=All`;
    const patch = { status: { conditions } };
    const { code, text } = this.#send('PATCH', path, patch, 'strategic-merge-patch', by);
    if (code === 200) return null;
    assert.equal(code, 403, text);
    return JSON.parse(text).message;
  }

  /** The condition that goes before a deletion. */
  disrupted(more: object = {}): object & { readonly lastTransitionTime?: string } {
    const lastTransitionTime = new Date(this.clock.now()).toISOString().replace(/[.]\d+/, '');
    const reason = 'DeletionByTaintManager';
    const mark = { type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime };
    return { ...mark, ...more };
  }

  #expect(status: number, method: string, path: string, body: object, kind = ''): void {
    const { code, text } = this.#send(method, path, body, kind);
    assert.equal(code, status, text);
  }

  #send(method: string, path: string, body: object, kind = '', by = 'admin'): Answer {
    const headers = {
      'content-type': kind === '' ? 'application/json' : `application/${kind}+json`,
      'impersonate-user': by,
      'impersonate-group': 'system:masters',
    };
    let [code, text] = [0, ''];
    this.cluster.exchange(
      { method, path, headers, body: JSON.stringify(body) },
      {
        head: (status) => {
          code = status;
        },
        data: (chunk) => {
          text += String(chunk);
        },
        end: () => {},
        reset: () => {},
      },
    );
    return { code, text };
  }
}
