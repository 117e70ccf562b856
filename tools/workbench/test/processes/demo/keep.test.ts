import assert from 'node:assert/strict';
import { it } from 'node:test';
import { run } from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { keep } from '../../../src/demo/keep.ts';

const waitMsMax = 60_000;

/** What the plugin says, as soon as it says this. */
async function saying(what: RegExp, ...args: readonly string[]): Promise<string> {
  for (const end = Date.now() + waitMsMax; ; ) {
    const { out, err } = await run(...args);
    if (what.test(out)) return out;
    assert.ok(Date.now() < end, `${args.join(' ')} does not say ${what}:\n${out}${err}`);
  }
}

it('the cluster that the demo leaves has a controller that every command knows', async () => {
  const stop = new AbortController();
  let ended = Promise.resolve();
  const told = new Promise<string>((resolve) => {
    ended = keep(1, stop.signal, resolve);
  });
  try {
    const said = await Promise.race([told, ended]);
    const [, kubeconfig] = /^ {2}export KUBECONFIG=(\S+)$/m.exec(said ?? '') ?? [];
    process.env.KUBECONFIG = kubeconfig ?? assert.fail(`it names no kubeconfig: ${said}`);
    await saying(/^Evicted by: +taintmgr-controller$/m, 'explain', 'node', 'zone-c-1');
    assert.match(await saying(/^TaintManager taintmgr:/m, 'status'), /--mode=evict/);
  } finally {
    stop.abort();
    await ended;
  }
});
