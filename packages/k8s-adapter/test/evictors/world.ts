import { ApiServer } from '@taintmgr/api-server';
import type { Instant, Millis } from '@taintmgr/core/time';
import {
  type KubeObject,
  namespace,
  pod,
  RealClock,
  type Rule,
  seededRandom,
} from '@taintmgr/sim-cluster';
import { ApiClient } from '../../src/client/client.ts';
import { findEvictors } from '../../src/client/find-evictors.ts';
import { exchangeSink } from '../../src/driver/virtual.ts';
import type { Duty, DutyVerdict } from '../../src/evictors/judge.ts';
import type { Transport } from '../../src/transport/sink.ts';

export const everything: Rule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  nonResourceURLs: ['*'],
};
export const eviction: Duty = 'taint-eviction-controller';
export const lifecycle: Duty = 'node-lifecycle-controller';
/** The API server's time in each answer: not that of this process. */
export const serverTime: Instant = Date.UTC(2026, 0, 2, 3, 4, 5);
export const minute: Millis = 60_000;

export interface World {
  readonly api: ApiServer;
  readonly client: ApiClient;
  /** TaintManagers, which this API server does not know by itself. */
  readonly published: object[];
}

export function world(rules: readonly Rule[] = [everything], gitVersion = 'v1.36.2'): World {
  const tokens = new Map([['token', { name: 'asker', groups: [], rules }]]);
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1), tokens });
  const published: object[] = [];
  const transport: Transport = {
    send(request, sink) {
      const headers = { ...request.headers, authorization: 'Bearer token' };
      return api.exchange(
        { ...request, headers },
        {
          ...exchangeSink(sink),
          head: (status, given) => {
            const head = { ...given, date: new Date(serverTime).toUTCString() };
            sink.head(isTheirs(request.path) && published.length > 0 ? 200 : status, head);
          },
          data: (chunk) => {
            if (request.path === '/version') sink.data(JSON.stringify({ gitVersion }));
            else if (isTheirs(request.path) && published.length > 0)
              sink.data(JSON.stringify({ ...managerList, items: published }));
            else sink.data(chunk);
          },
        },
      );
    },
  };
  return { api, client: new ApiClient({ transport, server: 'https://test' }), published };
}

function isTheirs(path: string): boolean {
  return path.startsWith(taintManagers);
}

/** A lease that was renewed so long ago, by the clock of its holder. */
export function putLease(
  { api }: World,
  name: string,
  age: Millis,
  where = 'kube-system',
  { holder = `${name}_1`, controllers = '' } = {},
): void {
  const renewTime = new Date(serverTime - age).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: holder, leaseDurationSeconds: 15, renewTime };
  const annotations = controllers === '' ? {} : { 'taintmgr.dev/controllers': controllers };
  if (!api.get('namespaces', '', where)) api.create('namespaces', namespace(where));
  const known = api.get('leases', where, name);
  if (known) api.update('leases', { ...known, spec });
  else api.create('leases', { metadata: { namespace: where, name, annotations }, spec });
}

export function putManager(
  { api }: World,
  name: string,
  flags: readonly string[],
  fields: object = {},
  label = 'component',
): KubeObject {
  const command = ['kube-controller-manager', '--bind-address=127.0.0.1', ...flags];
  const containers = [{ name: 'kube-controller-manager', image: 'registry/kcm', command }];
  const one = pod('kube-system', name, { spec: { nodeName: 'cp', containers }, ...fields });
  const labels = { [label]: 'kube-controller-manager' };
  return api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
}

const managerList = {
  ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManagerList' },
  metadata: { resourceVersion: '1' },
};
const taintManagers = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

/** What a leader publishes of itself now. */
export function publish({ published }: World, name: string, status: object): void {
  const renewTime = new Date(serverTime).toISOString();
  published.push({
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager', metadata: { name } },
    status: { renewTime, controllers: [eviction, lifecycle], ...status },
  });
}

/** A pod of kube-controller-manager as the kubelet of a node has made it. */
export function putMirror(one: World, nodeName: string, ...flags: readonly string[]): void {
  const made = putManager(one, `kcm-${nodeName}`, flags, {
    spec: {
      nodeName,
      containers: [
        {
          name: 'kube-controller-manager',
          image: 'x',
          command: ['kube-controller-manager', ...flags],
        },
      ],
    },
  });
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  one.api.update('pods', { ...made, metadata: { ...made.metadata, annotations } });
}

export function putNode(
  { api }: World,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): void {
  api.create('nodes', { metadata: { name, labels } });
}

export const controlPlane = { 'node-role.kubernetes.io/control-plane': '' };
export const off = '--controllers=*,-taint-eviction-controller,-node-lifecycle-controller';

export const soon = { secondLookMs: 1 };
export const find = async ({ client }: World, duty: Duty = eviction): Promise<DutyVerdict> =>
  (await findEvictors(client, soon)).upstream[duty];
