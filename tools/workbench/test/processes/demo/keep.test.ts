import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { run } from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { keep } from '../../../src/demo/keep.ts';

const waitMsMax = 60_000;
const page = new URL('../../../../../README.md', import.meta.url);

/** Returns the output of the plugin as soon as it matches. */
async function saying(what: RegExp, ...args: readonly string[]): Promise<string> {
  for (const end = Date.now() + waitMsMax; ; ) {
    const { out, err } = await run(...args);
    if (what.test(out)) return out;
    assert.ok(Date.now() < end, `${args.join(' ')} does not say ${what}:\n${out}${err}`);
  }
}

it('the cluster that the demo leaves answers as the README shows, and has the nodes that it names', async () => {
  const stop = new AbortController();
  let ended = Promise.resolve();
  const told = new Promise<string>((resolve) => {
    ended = keep(1, stop.signal, resolve);
  });
  try {
    const said = (await Promise.race([told, ended])) ?? assert.fail('it ended');
    const [, kubeconfig] = /^ {2}export KUBECONFIG=(\S+) PATH=/m.exec(said) ?? [];
    process.env.KUBECONFIG = kubeconfig ?? assert.fail(`it names no kubeconfig: ${said}`);
    const commands = Array.from(said.matchAll(/^ {2}kubectl taintmgr (.+)$/gm), ([, args]) => args);
    assert.deepEqual(commands, [
      'explain node zone-a-1 -w',
      'explain node zone-b-1 --with-taint maintenance=kernel',
      'web',
    ]);
    await saying(
      /^Pods: +2 of 3 to evict \(next in \S+, last in \S+\), 1 to keep$/m,
      'explain',
      'node',
      'zone-a-1',
    );
    assert.match(await saying(/taintmgr-controller/m, 'status'), /evict/);
    // The web pod of the failing node has a successor, so that its budget lets the next one go.
    await saying(/lets 1 go now/, 'explain', 'deployment', 'web', '-n', 'shop');
    await compareReadme();
  } finally {
    stop.abort();
    await ended;
  }
});

/** Runs the commands of the README one after the other; with REWRITE=1 the README shows what they print. */
async function compareReadme(): Promise<void> {
  const text = readFileSync(page, 'utf8');
  let rewritten = text;
  const scenes = Array.from(
    text.matchAll(/^(```console\n\$ kubectl taintmgr (.+)\n)([\s\S]*?)^```$/gm),
  );
  assert.equal(scenes.length, 2);
  for (const [whole, head = '', command = '', shown = ''] of scenes) {
    const { out, err } = await run(...command.split(' '));
    const printed = `${out}${err}`;
    rewritten = rewritten.replace(whole, () => `${head}${printed}\`\`\``);
    if (process.env.REWRITE !== '1') assert.equal(timeless(printed), timeless(shown), command);
  }
  if (process.env.REWRITE === '1') writeFileSync(page, rewritten);
}

/** The same at any time: without durations, generated names, and the widths that depend on them. */
function timeless(text: string): string {
  return text
    .replace(/\b(?:\d+(?:\.\d+)?[dhms])+\b/g, 'TIME')
    .replace(/\bdrain-\d+-\d+-\w+/g, 'DRAIN')
    .replace(/\S+_[\da-f-]{36}/g, 'CONTROLLER')
    .replace(/ +/g, ' ');
}
