// What `explain node` asks of the API server, and what of it at the same time: over a long way it is
// the round trips that take time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { node, RealClock, seededRandom, type User } from '@taintmgr/sim-cluster';
import { ApiClient } from '../../src/client/client.ts';
import { explainNode } from '../../src/explain/subjects.ts';
import { exchangeSink, type Transport } from '../../src/index.ts';
import { leaveTaints } from '../world/shown-manager.ts';

const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const server = 'https://sim';

/** Answers what was asked without waiting for an answer, and only then what is asked after that. */
class InTurns implements Transport {
  readonly turns: string[][] = [];
  readonly #api: ApiServer;
  #held: (() => void)[] = [];

  constructor(api: ApiServer) {
    this.#api = api;
  }

  send: Transport['send'] = (request, sink) => {
    if (this.#held.length === 0) {
      this.turns.push([]);
      // Whatever does not wait for an answer is sent before this.
      setImmediate(() => this.#answer());
    }
    const { pathname, searchParams } = new URL(request.path, server);
    const selector = searchParams.get('labelSelector') ?? searchParams.get('fieldSelector');
    this.turns.at(-1)?.push(selector === null ? pathname : `${pathname} of ${selector}`);
    const headers = { ...request.headers, authorization: 'Bearer admin' };
    this.#held.push(() => this.#api.exchange({ ...request, headers }, exchangeSink(sink)));
    return () => undefined;
  };

  #answer(): void {
    const held = this.#held;
    this.#held = [];
    for (const answer of held) answer();
  }
}

it('explain node asks for everything as soon as it can', async () => {
  const tokens = new Map([['admin', admin]]);
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1), tokens });
  api.load([node('n1', { labels: { 'topology.kubernetes.io/zone': 'a' } })]);
  leaveTaints(api);
  const transport = new InTurns(api);
  const client = new ApiClient({ transport, server });
  await explainNode(client, 'n1');
  assert.deepEqual(
    transport.turns.map((turn) => [...turn].sort()),
    [
      [
        '/api/v1/namespaces/kube-system/pods of app.kubernetes.io/name=kube-controller-manager',
        '/api/v1/namespaces/kube-system/pods of component=kube-controller-manager',
        '/api/v1/namespaces/kube-system/pods of k8s-app=kube-controller-manager',
        '/api/v1/nodes of node-role.kubernetes.io/control-plane',
        '/api/v1/nodes/n1',
        '/api/v1/pods of spec.nodeName=n1',
        '/apis/coordination.k8s.io/v1/leases of metadata.name=taintmgr-controller',
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1',
        '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager',
        '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/taintmgr-controller-limits',
        '/apis/coordination.k8s.io/v1/namespaces/taintmgr-system/leases/taintmgr-controller-limits',
        '/apis/lifecycle.k8s.io/v1alpha1',
        '/apis/policy/v1/poddisruptionbudgets',
        '/apis/taintmgr.dev/v1alpha1',
        '/apis/taintmgr.dev/v1alpha1/evictionpauses',
        '/apis/taintmgr.dev/v1alpha1/evictionpolicies',
        '/apis/taintmgr.dev/v1alpha1/nodetaintrules',
        '/apis/taintmgr.dev/v1alpha1/taintmanagers',
        '/version',
      ],
      [
        '/api/v1/nodes of failure-domain.beta.kubernetes.io/zone=a',
        '/api/v1/nodes of topology.kubernetes.io/zone=a',
      ],
    ],
  );
});
