// A pause that somebody ends while no controller runs: `explain` says what the controller does when it
// starts, which gives the time back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import type { Instant } from '@taintmgr/core/time';
import { ApiClient, EvictorSearch, exchangeSink, type Transport } from '@taintmgr/k8s-adapter';
import { explainNode } from '@taintmgr/k8s-adapter/explain';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { ClusterReader } from '@taintmgr/k8s-adapter/survey';
import {
  type Json,
  type KubeObject,
  namespace,
  pod,
  taint,
  type User,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { type Evictor, oursRestarted, tokens } from '../../src/prediction/evictor.ts';
import { tolerating } from '../../src/prediction/scenario.ts';

const startsAt: Instant = Date.UTC(2026, 0, 2, 3, 4, 5, 300);
const toleratedSeconds = 100;
/** A whole second, in which times are kept, and what a controller needs to start. */
const errorMsMax = 1_500;

const pauseNamed = (name: string, scope: object): KubeObject => ({
  ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause', metadata: { name } },
  spec: { reason: 'network', scope },
});

/** A node with a pod that tolerates its taint for a while, and a controller that can be killed. */
class Stage {
  readonly #clock = new VirtualClock(startsAt);
  readonly #cluster: ServedCluster;
  readonly controller: Evictor;
  removedAt: Instant | null = null;

  constructor() {
    const users = Object.values(tokens).map((token): readonly [string, User] => {
      return [token, { name: token, groups: ['system:masters'], rules: [] }];
    });
    this.#cluster = new ServedCluster({
      clock: this.#clock,
      seed: 1,
      without: ['workloads', 'garbageCollection'],
      topology: { region: 'r', zones: ['z'], nodesPerZone: 1, workloads: [], budgets: [] },
      apiServer: { tokens: new Map(users) },
    });
    const { api, exchange } = this.#cluster;
    this.controller = oursRestarted({ mode: 'delete' })(this.#cluster, this.#clock, exchange);
    api.subscribe(({ resource, object: { metadata } }) => {
      if (resource === 'pods' && metadata.name === 'web' && metadata.deletionTimestamp)
        this.removedAt ??= this.#clock.now();
    });
    this.#cluster.start();
    for (const definition of customResourceDefinitions())
      api.create('customresourcedefinitions', structuredClone(definition) as object as KubeObject);
    this.#clock.advanceTo(startsAt + 200);
    this.controller.start();
    api.create('namespaces', namespace('shop'));
    // Its flags prove that it leaves taints to others, also while no controller runs.
    const name = 'kube-controller-manager';
    const command = [name, '--controllers=*,-taint-eviction-controller,-node-lifecycle-controller'];
    const manager = pod('kube-system', name, {
      spec: {
        containers: [{ name, image: name, command }],
        tolerations: [{ operator: 'Exists' }],
      },
    });
    api.create('pods', {
      ...manager,
      metadata: { ...manager.metadata, labels: { component: name } },
    });
    const tolerations = [...tolerating({ k: toleratedSeconds })] as Json[];
    this.at(5);
    api.create('pods', pod('shop', 'web', { spec: { nodeName: 'z-1', tolerations } }));
    this.at(10);
    const known = api.get('nodes', '', 'z-1') ?? assert.fail();
    const spec = { ...known.spec, taints: [taint('k:NoExecute')] };
    api.as('kubectl-taint').update('nodes', { ...known, spec });
  }

  at(second: number): void {
    this.controller.runUntil(startsAt + second * 1000);
  }

  pause(object: KubeObject): void {
    this.#cluster.api.create('evictionpauses.taintmgr.dev', object);
  }

  resume(name: string): void {
    this.#cluster.api.delete('evictionpauses.taintmgr.dev', '', name);
  }

  /** When the pod goes, in seconds, by `explain node`; null: it is held. */
  async foretold(): Promise<number | null> {
    const { exchange } = this.#cluster;
    const transport: Transport = {
      send: (request, sink) => {
        const headers = { ...request.headers, authorization: `Bearer ${tokens.viewer}` };
        return exchange({ ...request, headers }, exchangeSink(sink));
      },
    };
    const client = new ApiClient({ transport, server: 'https://cluster' });
    const search = new EvictorSearch(client, { secondLookMs: 0 });
    const reader = new ClusterReader(client, undefined, search, () => this.#clock.now());
    const { report: found } = await explainNode(reader, 'z-1');
    const [report] = found.nodes;
    const decision = report?.pods?.find(({ facts }) => facts.pod.name === 'web')?.explanation
      .decision;
    return decision?.kind === 'evict' ? (decision.deadline - startsAt) / 1000 : null;
  }
}

describe('a pause that is ended while no controller runs', () => {
  /** Killed at 30 s; the pause was made at 20 s and is ended at 50 s; asked, and started, at 80 s. */
  const play = async (
    scope: object,
  ): Promise<{ readonly said: number | null; readonly went: number }> => {
    const stage = new Stage();
    stage.at(20);
    stage.pause(pauseNamed('night', scope));
    stage.at(30);
    stage.controller.restart?.stop();
    stage.at(50);
    stage.resume('night');
    stage.at(80);
    const said = await stage.foretold();
    stage.controller.restart?.start();
    stage.at(300);
    return { said, went: ((stage.removedAt ?? assert.fail('it stayed')) - startsAt) / 1000 };
  };

  it('gives the time back, up to the start', async () => {
    const { said, went } = await play({});
    assert.ok(said !== null && Math.abs(went - said) * 1000 <= errorMsMax, `${said}, ${went}`);
    assert.ok(went > 10 + toleratedSeconds + 59, `${went}`);
  });

  it('gives nothing back to pods that it was not for', async () => {
    const { said, went } = await play({ namespaces: ['other'] });
    assert.ok(said !== null && Math.abs(went - said) * 1000 <= errorMsMax, `${said}, ${went}`);
    assert.ok(went < 10 + toleratedSeconds + 2, `${went}`);
  });

  it('holds as long as it is there', async () => {
    const stage = new Stage();
    stage.at(20);
    stage.pause(pauseNamed('night', {}));
    stage.at(30);
    stage.controller.restart?.stop();
    stage.at(80);
    assert.equal(await stage.foretold(), null);
  });
});
