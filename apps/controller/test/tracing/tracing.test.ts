// Traces of evictions as a collector gets them, by OTLP over HTTP.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { registerHooks } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, startEmbedded } from '@taintmgr/api-server';
import { pod } from '@taintmgr/sim-cluster';
import { isReady, when } from '../deploy/single-replica.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';

const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    loaded.push(url);
    return next(url, context);
  },
});

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
}

type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface Span {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Attributes;
  readonly status: { readonly code: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Collector {
  readonly url: string;
  readonly paths: Set<string>;
  readonly services: Set<string>;
  /** What resources say of a dry run. */
  readonly dryRuns: Set<string | undefined>;
  readonly spans: Span[];
}

/** A receiver of OTLP in JSON. */
async function collect(t: TestContext, status = 200): Promise<Collector> {
  const [spans, paths, services] = [[] as Span[], new Set<string>(), new Set<string>()];
  const dryRuns = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    paths.add(request.url ?? '');
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      const about = textsOf(resource.attributes);
      services.add(about['service.name'] ?? '');
      dryRuns.add(about['taintmgr.dry_run']);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(status, { connection: 'close' }).end('{}');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, paths, services, dryRuns, spans };
}

function textsOf(attributes: Attributes): Readonly<Record<string, string>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue)]),
  );
}

async function start(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    topology: none,
    without: ['conditionTaints', 'workloads', 'scheduler'],
    timing: { heartbeatMs: 300, startupMs: [10, 20], podStartMs: [10, 20], podStopMs: [10, 20] },
  });
  t.after(() => embedded.stop());
  const { cluster } = embedded;
  cluster.api.create('namespaces', { metadata: { name: 'shop' } });
  cluster.addNode({ name: 'a-1', region: 'r', zone: 'a' });
  cluster.api.create('pods', pod('shop', 'web-0', { spec: { nodeName: 'a-1' } }));
  await when(cluster, () => isReady(cluster, 'web-0'));
  return embedded;
}

/** Runs it until the pod is gone, and to its end. */
async function evict(
  t: TestContext,
  embedded: EmbeddedCluster,
  ...flags: readonly string[]
): Promise<RunningProcess> {
  const connection = { kubeconfig: embedded.kubeconfig };
  const all = ['--healthz-port=0', '--leader-elect=false', ...flags];
  const controller = await startProcess(t, { connection, flags: all });
  const isDry = flags.some((flag) => flag.startsWith('--dry-run'));
  await controller.saw(
    isDry
      ? 'caches synced, the dry run starts: nothing is evicted'
      : 'caches synced, evictions start',
  );
  const { api } = embedded.cluster;
  const one = api.get('nodes', '', 'a-1') ?? assert.fail();
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  const gone = isDry ? 'dry run: would have evicted' : 'evicted';
  await controller.saw(gone, { pod: 'shop/web-0' });
  await controller.stop();
  return controller;
}

describe('traces', () => {
  it('are off, and nothing of them is loaded, until somebody wants them', async (t) => {
    const embedded = await start(t);
    await evict(t, embedded);
    assert.deepEqual(
      loaded.filter((url) => url.includes('@opentelemetry')),
      [],
    );
  });

  it('have a span for the eviction, and one for each of its requests below it', async (t) => {
    const collector = await collect(t);
    const embedded = await start(t);
    await evict(t, embedded, `--otlp-endpoint=${collector.url}/`);
    assert.ok(loaded.some((url) => url.includes('@opentelemetry')));
    assert.deepEqual([...collector.paths], ['/v1/traces']);
    assert.deepEqual([...collector.services], ['taintmgr-controller']);
    assert.deepEqual([...collector.dryRuns], [undefined]);
    const [eviction, ...more] = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
    assert.ok(eviction && more.length === 0);
    assert.equal(eviction.name, 'delete pod');
    const {
      'k8s.pod.uid': uid,
      'taintmgr.eviction.due': due,
      ...others
    } = textsOf(eviction.attributes);
    assert.match(uid ?? '', /^[0-9a-f-]{36}$/);
    assert.ok(
      Date.parse(due ?? '') <= Number(BigInt(eviction.startTimeUnixNano) / 1_000_000n) + 1000,
    );
    assert.deepEqual(others, {
      'k8s.namespace.name': 'shop',
      'k8s.pod.name': 'web-0',
      'k8s.node.name': 'a-1',
      'taintmgr.eviction.method': 'delete',
      'taintmgr.eviction.reason': 'NoToleration',
      'taintmgr.taint.key': 'bad',
      'taintmgr.eviction.outcome': 'done',
    });
    const requests = collector.spans
      .filter(({ parentSpanId }) => parentSpanId === eviction.spanId)
      .map(({ name, attributes }) => [name, textsOf(attributes)['http.response.status_code']]);
    assert.deepEqual(requests, [
      ['PATCH pods/status', '200'],
      ['DELETE pods', '200'],
    ]);
    assert.equal(collector.spans.length, 3);
  });

  for (const dryRun of ['client', 'server']) {
    it(`say of a dry run that it is one: ${dryRun}`, async (t) => {
      const collector = await collect(t);
      const embedded = await start(t);
      await evict(t, embedded, `--dry-run=${dryRun}`, `--otlp-endpoint=${collector.url}`);
      assert.deepEqual([...collector.dryRuns], [dryRun]);
      assert.ok(collector.spans.length > 0);
      for (const { name, attributes } of collector.spans) {
        assert.equal(textsOf(attributes)['taintmgr.dry_run'], dryRun, name);
      }
    });
  }

  it('say of a budget that it refused, by the name that a variable gives', async (t) => {
    process.env.OTEL_SERVICE_NAME = 'evictions';
    t.after(() => {
      delete process.env.OTEL_SERVICE_NAME;
    });
    const collector = await collect(t);
    const embedded = await start(t);
    embedded.cluster.api.create('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { maxUnavailable: 0, selector: {} },
    });
    const after = ['--mode=evict-then-delete', '--delete-after=1s'];
    await evict(t, embedded, ...after, `--otlp-endpoint=${collector.url}`);
    const outcomes = collector.spans
      .filter(({ parentSpanId }) => !parentSpanId)
      .map(({ name, attributes }) => {
        return `${name} ${textsOf(attributes)['taintmgr.eviction.outcome']}`;
      });
    assert.equal(outcomes[0], 'evict pod blocked');
    assert.equal(outcomes.at(-1), 'delete pod done');
    const refused = collector.spans.find(({ name }) => name === 'POST pods/eviction');
    assert.equal(textsOf(refused?.attributes ?? [])['http.response.status_code'], '429');
    assert.equal(refused?.status.code, 2);
    assert.deepEqual([...collector.services], ['evictions']);
  });

  it('that nobody takes keep nothing from being evicted, and are told of once', async (t) => {
    const collector = await collect(t, 400);
    const embedded = await start(t);
    const { lines } = await evict(t, embedded, `--otlp-endpoint=${collector.url}`);
    const told = lines.filter(({ msg }) => msg === 'could not send traces');
    assert.equal(told.length, 1);
    assert.match(String(told[0]?.error), /400|Bad Request/);
  });
});
