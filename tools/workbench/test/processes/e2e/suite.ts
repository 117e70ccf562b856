// What the framework of Kubernetes' own tests does around and within each test.
import assert from 'node:assert/strict';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { type LoggedCall, Recorder } from './recorder.ts';
import { type Stream, SuiteClient, strategicType, type WireForm } from './suite-client.ts';
import { SuiteWorld, type SuiteWorldOptions } from './suite-world.ts';

const nodes = '/api/v1/nodes';
const cached = { resourceVersion: '0' };
const evictTaint = {
  key: 'kubernetes.io/e2e-evict-taint-key',
  value: 'evictTaintVal',
  effect: 'NoExecute',
};
const systemNames = ['kube-proxy', 'fluentd-elasticsearch', 'node-problem-detector'];
const healthPolls = { everyMs: 2000, timesMax: 30 };
const bindingPolls = { everyMs: 200, timesMax: 600 };

/** A pod of these tests: left out, it tolerates nothing; null: for ever. */
export interface TestPod {
  readonly group: string;
  readonly tolerationSeconds?: number | null;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** One invocation of the suite: its client, its world, and the calls that it made. */
export class Suite {
  readonly world: SuiteWorld;
  readonly recorder = new Recorder();
  readonly client: SuiteClient;
  #ns = '';
  #streams: Stream[] = [];

  static async start(form: WireForm, options: SuiteWorldOptions): Promise<Suite> {
    const world = new SuiteWorld(options);
    return new Suite(world, await world.open(), form);
  }

  private constructor(world: SuiteWorld, url: string, form: WireForm) {
    this.world = world;
    this.client = new SuiteClient(url, world.ca, form, this.recorder);
  }

  async close(): Promise<void> {
    this.client.close();
    await this.world.close();
  }

  /** Once for each invocation. */
  async setUp(): Promise<void> {
    const { client } = this;
    const ready = await client.get(nodes, { fieldSelector: 'spec.unschedulable=false', ...cached });
    assert.ok(ready.items.length > 0);
    for (const node of ready.items) assertUsable(node);
    const system = (group: string, plural: string) =>
      client.get(`/${group}/namespaces/kube-system/${plural}`);
    for (const owners of ['replicationcontrollers', 'replicasets'] as const) {
      const group = owners === 'replicasets' ? 'apis/apps/v1' : 'api/v1';
      assert.deepEqual((await system(group, owners)).items, []);
    }
    for (const pod of (await system('api/v1', 'pods')).items) assertReady(pod);
    for (const { status } of (await system('apis/apps/v1', 'daemonsets')).items) {
      assert.equal(status.numberAvailable, status.desiredNumberScheduled);
    }
    assert.equal((await client.get('/version')).gitVersion, 'v1.36.2');
    const service = await client.get('/api/v1/namespaces/default/services/kubernetes');
    assert.match(service.spec.clusterIP, /^\d+\.\d+\.\d+\.\d+$/);
  }

  /** Before each test: a namespace, and a minute of waiting for system pods. */
  async begin(name: string): Promise<void> {
    const { client, recorder } = this;
    this.#ns = name;
    recorder.name(name, 'NS');
    const level = 'pod-security.kubernetes.io';
    const labels = {
      'e2e-framework': name.replace(/-\d+$/, ''),
      'e2e-run': '5b8bf4b5-2d0e-4d1f-9a54-52d3ef2f3a10',
      ...Object.fromEntries(
        ['enforce', 'warn', 'audit'].map((mode) => [`${level}/${mode}`, 'baseline']),
      ),
    };
    const metadata = { name, labels };
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata, spec: {}, status: {} };
    const created = await client.send('POST', '/api/v1/namespaces', { body });
    assert.equal(created.status.phase, 'Active');
    await recorder.poll(async () => {
      await this.#published('serviceaccounts', 'default');
      await this.#published('serviceaccounts', 'default');
      await this.#published('configmaps', 'kube-root-ca.crt');
    });
    await recorder.poll(() => this.#waitForHealthyNodes());
    const { items } = await client.get('/api/v1/namespaces');
    assert.deepEqual(
      items.filter(({ metadata }: KubeObject) => metadata.name.startsWith('e2e-tests-')),
      [],
    );
  }

  /** After each test; nobody waits for the namespace to go. */
  async end(): Promise<readonly LoggedCall[]> {
    for (const stream of this.#streams.splice(0)) stream.stop();
    const { client } = this;
    for (const node of (await client.get(nodes)).items) assertUsable(node);
    const body = { kind: 'DeleteOptions', apiVersion: 'v1' };
    const gone = await client.send('DELETE', `/api/v1/namespaces/${this.#ns}`, { body });
    assert.equal(gone.status.phase, 'Terminating');
    return this.recorder.take();
  }

  /** The informer of a test, open while the test runs. */
  async observe(group: string): Promise<Stream> {
    const stream = await this.client.watch(this.#pods(), { labelSelector: `group=${group}` });
    this.#streams.push(stream);
    await stream.heard('BOOKMARK', ({ metadata }) => isEnd(metadata));
    return stream;
  }

  /** RunPodAndGetNodeName: creates a pod and waits until a scheduler has found it a node. */
  async runPod(name: string, pod: TestPod): Promise<string> {
    const { client, recorder } = this;
    const created = await client.send('POST', this.#pods(), { body: podBody(this.#ns, name, pod) });
    assert.equal(created.metadata.deletionGracePeriodSeconds, undefined);
    assert.equal(created.spec.terminationGracePeriodSeconds, 30);
    this.world.pass(0);
    const nodeName: string = await recorder.poll(() =>
      this.poll(bindingPolls, async () => {
        const { spec } = await client.get(this.#pods(name), cached);
        return spec.nodeName ?? null;
      }),
    );
    recorder.name(nodeName, 'NODE');
    return nodeName;
  }

  /** Asks until something comes; fails when it does not in time. */
  async poll<T>(
    { everyMs, timesMax }: { readonly everyMs: number; readonly timesMax: number },
    ask: () => Promise<T | null>,
  ): Promise<T> {
    for (let times = 0; times < timesMax; times++) {
      const answer = await ask();
      if (answer !== null) return answer;
      this.world.pass(everyMs);
    }
    return assert.fail(`nothing within ${(everyMs * timesMax) / 1000} s`);
  }

  pod(name: string): Promise<KubeObject> {
    return this.client.get(this.#pods(name));
  }

  updatePod(pod: KubeObject): Promise<KubeObject> {
    const body = { ...pod, kind: 'Pod', apiVersion: 'v1' };
    return this.client.send('PUT', this.#pods(pod.metadata.name), { body });
  }

  node(name: string): Promise<KubeObject> {
    return this.client.get(`${nodes}/${name}`);
  }

  /** AddOrUpdateTaintOnNode and ExpectNodeHasTaint. */
  async taint(nodeName: string): Promise<void> {
    const { spec } = await this.client.get(`${nodes}/${nodeName}`, cached);
    const timeAdded = new Date(this.world.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const taints = [...(spec.taints ?? []), { ...evictTaint, timeAdded }];
    await this.#patchTaints(nodeName, taints);
    assert.ok(await this.#hasTaint(nodeName));
  }

  /** RemoveTaintOffNode, which looks whether the taint is gone. */
  async untaint(nodeName: string): Promise<void> {
    const { spec } = await this.client.get(`${nodes}/${nodeName}`, cached);
    const rest = spec.taints.filter(({ key }: { key: string }) => key !== evictTaint.key);
    await this.#patchTaints(nodeName, rest.length > 0 ? rest : null);
    assert.ok(!(await this.#hasTaint(nodeName)));
  }

  /** Lets so many seconds pass; the instant of each deletion that the cluster saw meanwhile. */
  async deletions(stream: Stream, seconds: number, wanted: readonly string[]): Promise<number> {
    const { world } = this;
    const begin = world.now();
    const isGone = (name: string) => world.cluster.api.get('pods', this.#ns, name) === null;
    while (!wanted.every(isGone) && world.now() < begin + seconds * 1000) world.pass(1000);
    for (const name of wanted) {
      assert.ok(isGone(name), `${name} is there after ${seconds} s`);
      await stream.heard('DELETED', ({ metadata }) => metadata.name === name);
    }
    return (world.now() - begin) / 1000;
  }

  /** Lets so many seconds pass, in which this pod stays. */
  stays(stream: Stream, seconds: number, name: string): void {
    this.world.pass(seconds * 1000);
    const { metadata } = this.world.cluster.api.get('pods', this.#ns, name) ?? assert.fail(name);
    assert.equal(metadata.deletionTimestamp, undefined);
    assert.ok(!stream.deleted.includes(name));
  }

  async #patchTaints(nodeName: string, taints: readonly object[] | null): Promise<void> {
    const sent = { type: strategicType, body: { spec: { taints } } };
    await this.client.send('PATCH', `${nodes}/${nodeName}`, sent);
  }

  async #hasTaint(nodeName: string): Promise<boolean> {
    const { spec } = await this.node(nodeName);
    return (spec.taints ?? []).some(({ key }: { key: string }) => key === evictTaint.key);
  }

  /** The publisher has put something into the namespace. */
  async #published(plural: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${this.#ns}/${plural}`;
    this.world.pass(0);
    const stream = await this.client.watch(path, { fieldSelector: `metadata.name=${name}` });
    await stream.heard('ADDED', ({ metadata }) => metadata.name === name);
    await stream.heard('BOOKMARK', ({ metadata }) => isEnd(metadata));
    stream.stop();
  }

  /** WaitForTotalHealthy: nodes Ready, system pods on those without taints; in vain is no matter. */
  async #waitForHealthyNodes(): Promise<void> {
    const { client, world } = this;
    for (let times = 0; times < healthPolls.timesMax; times++) {
      const { items: found } = await client.get(nodes, cached);
      const { items: pods } = await client.get('/api/v1/pods', cached);
      const running: readonly KubeObject[] = pods.filter(
        ({ metadata, status }: KubeObject) =>
          metadata.namespace === 'kube-system' && status.phase === 'Running',
      );
      const isHealthy = found.every(({ metadata, spec }: KubeObject) => {
        const here = running.filter((pod) => pod.spec.nodeName === metadata.name);
        const has = (name: string) => here.some((pod) => pod.metadata.name.includes(name));
        return spec.taints !== undefined || systemNames.every(has);
      });
      if (isHealthy) return;
      world.pass(healthPolls.everyMs);
    }
  }

  #pods(name?: string): string {
    const pods = `/api/v1/namespaces/${this.#ns}/pods`;
    return name === undefined ? pods : `${pods}/${name}`;
  }
}

function podBody(namespace: string, name: string, pod: TestPod): KubeObject {
  const { group, tolerationSeconds, nodeSelector, finalizers } = pod;
  const { key, value, effect } = evictTaint;
  const seconds = typeof tolerationSeconds === 'number' ? { tolerationSeconds } : {};
  const tolerations = [{ key, value, effect, ...seconds }];
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace,
      deletionGracePeriodSeconds: 1,
      labels: { group },
      ...(finalizers ? { finalizers } : {}),
    },
    spec: {
      containers: [{ name: 'pause', image: 'registry.k8s.io/pause:3.10.1', resources: {} }],
      ...(nodeSelector ? { nodeSelector } : {}),
      ...(tolerationSeconds === undefined ? {} : { tolerations }),
    },
    status: {},
  };
}

function assertUsable({ metadata, spec, status }: KubeObject): void {
  const ready = status.conditions.find(({ type }: { type: string }) => type === 'Ready');
  assert.equal(ready.status, 'True', metadata.name);
  assert.equal(spec.taints, undefined, metadata.name);
  assert.equal(spec.unschedulable, undefined, metadata.name);
  assert.equal(metadata.labels?.['kubernetes.io/hostname'], metadata.name);
}

function assertReady({ metadata, status }: KubeObject): void {
  const ready = status.conditions.find(({ type }: { type: string }) => type === 'Ready');
  assert.deepEqual([status.phase, ready.status], ['Running', 'True'], metadata.name);
}

function isEnd({ annotations }: KubeObject['metadata'] & { annotations?: object }): boolean {
  return annotations !== undefined && 'k8s.io/initial-events-end' in annotations;
}
