// Kubernetes' own tests "NoExecuteTaintManager" of 1.36.2, played over HTTPS on a clock that jumps, with
// our controller evicting. Each call and its status is compared with what the real tests sent to a real
// API server. What they need, by the steps in which they need it:
//
//   transport, both content types      suite-client.ts, each test in both forms
//   once for each invocation           Suite.setUp: nodes, kube-system, version, Service kubernetes
//   before each test                   Suite.begin: Namespace, ServiceAccount default, kube-root-ca.crt
//   in the tests                       taint-tests.ts: scheduler, nodeSelector, kubelets, finalizers
//   after each test                    Suite.end: nodes, deletion of the namespace
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { LoggedCall } from './recorder.ts';
import { Suite } from './suite.ts';
import { taintTests } from './taint-tests.ts';

interface Run {
  readonly test: string;
  readonly calls: readonly { readonly call: string; readonly times?: number }[];
}

const file = '../../testdata/cluster/e2e/noexecute-taint-manager.json';
const { runs }: { readonly runs: readonly Run[] } = JSON.parse(
  readFileSync(new URL(file, import.meta.url), 'utf8'),
);

function recorded(name: string): Run['calls'] {
  const run = runs.find(({ test }) => test.includes(name));
  return run?.calls ?? assert.fail(`nothing is recorded of ${name}`);
}

const isInformer = (call: string): boolean => call.includes('labelSelector=group=');
const texts = (calls: Run['calls']): readonly string[] => calls.map(({ call }) => call);

/** In what order an informer and the creation of a pod arrive is chance. */
function assertSameCalls(made: readonly LoggedCall[], wanted: Run['calls']): void {
  const [mine, theirs] = [texts(made), texts(wanted)];
  const others = (calls: readonly string[]) => calls.filter((call) => !isInformer(call));
  assert.deepEqual(others(mine), others(theirs));
  assert.deepEqual(mine.filter(isInformer), theirs.filter(isInformer));
}

/** How often the nodes were looked at before a test. */
function healthPolls(calls: Run['calls']): number | undefined {
  return calls.find(({ call }) => call === 'list /api/v1/nodes?resourceVersion=0 -> 200')?.times;
}

for (const form of ['json', 'protobuf'] as const) {
  describe(`NoExecuteTaintManager, bodies in ${form}`, () => {
    it('goes as recorded, in one invocation', async (t) => {
      const suite = await Suite.start(form, { systemPods: false });
      t.after(() => suite.close());
      await suite.setUp();
      assertSameCalls(suite.recorder.take(), recorded('suite'));
      for (const [index, { name, run }] of taintTests.entries()) {
        await t.test(name, async () => {
          await suite.begin(`taint-pods-${1000 + index}`);
          await run(suite);
          const calls = await suite.end();
          assertSameCalls(calls, recorded(name));
          assert.equal(healthPolls(calls), healthPolls(recorded(name)));
        });
      }
    });
  });
}

it('with system pods no test waits for a minute', async (t) => {
  const suite = await Suite.start('json', { systemPods: true });
  t.after(() => suite.close());
  await suite.setUp();
  for (const [index, { name, run }] of taintTests.entries()) {
    suite.recorder.take();
    await suite.begin(`taint-pods-${index}`);
    await run(suite);
    const calls = await suite.end();
    assert.equal(healthPolls(calls), 1, name);
  }
  // Nobody waits for them, and they go.
  suite.world.pass(60_000);
  const left = suite.world.cluster.api.list('namespaces').map(({ metadata }) => metadata.name);
  assert.deepEqual(
    left.filter((name) => name.startsWith('taint-pods-')),
    [],
  );
});
