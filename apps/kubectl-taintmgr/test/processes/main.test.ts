import assert from 'node:assert/strict';
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { delimiter } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pdb, toleration } from '@taintmgr/sim-cluster';
import { execute, installPlugin, withoutKubectl } from '../world/plugin.ts';
import { escapeCharacter, PseudoTerminal, withoutTerminal } from '../world/pseudo-terminal.ts';
import { type Result, steady } from '../world/run.ts';
import { app, Scenario } from '../world/scenario.ts';
import { startTestCluster, type TestCluster, until } from '../world/test-cluster.ts';

// The plugin as a user has it: found on PATH by the machine's own kubectl.

const clone = fileURLToPath(new URL('../../../../node_modules/.bin', import.meta.url));
const maintenance = 'maintenance=kernel:NoSchedule';

/** As though the drain had given its last sign of life an hour ago. */
function ageMark({ api }: TestCluster, nodeName: string): void {
  const node = api.get('nodes', '', nodeName);
  const [mark] = JSON.parse(node?.metadata.annotations?.['taintmgr.dev/drain'] ?? '[]');
  assert.ok(node && mark?.heartbeat);
  const heartbeat = new Date(Date.parse(mark.heartbeat) - 3_600_000).toISOString();
  const annotations = { 'taintmgr.dev/drain': JSON.stringify([{ ...mark, heartbeat }]) };
  api.update('nodes', { ...node, metadata: { ...node.metadata, annotations } });
}

describe('kubectl taintmgr', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    const tolerations = [toleration('maintenance:NoExecute', 600)];
    cluster = await startTestCluster({
      region: 'r',
      zones: ['go', 'stay', 'watched', 'unread', 'crash'],
      nodesPerZone: 1,
      workloads: [
        app('go', 'web'),
        app('stay', 'db', { tolerations }),
        app('watched', 'db', { tolerations }),
        app('unread', 'db', { tolerations }),
        app('crash', 'web'),
        app('crash', 'api'),
      ],
      budgets: [pdb('crash', 'web', { minAvailable: 1 })],
    });
    const PATH = installPlugin(cluster.directory);
    env = { PATH, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig };
  });
  after(() => cluster.stop());

  const kubectl = (line: string, changes: NodeJS.ProcessEnv = {}): Promise<Result> =>
    execute('kubectl', ['taintmgr', ...line.split(' ')], { ...env, ...changes });

  it('finds the cluster that KUBECONFIG names, or a flag', async () => {
    const ways: readonly (readonly [flags: string, env: NodeJS.ProcessEnv])[] = [
      ['', {}],
      [' --context=taintmgr-sim', {}],
      [` --kubeconfig=${cluster.kubeconfig}`, { KUBECONFIG: '/nope' }],
      ['', { KUBECONFIG: `/nope${delimiter}${cluster.kubeconfig}` }],
    ];
    for (const [flags, changes] of ways) {
      const { code, out, err } = await kubectl(`explain node go-1${flags}`, changes);
      assert.deepEqual([code, err], [0, ''], flags);
      assert.match(out, /^Name: +go-1\n/);
    }
  });

  it('runs in a clone as it is', async () => {
    const PATH = `${clone}${delimiter}${process.env.PATH}`;
    const { code, out } = await kubectl('explain node go-1', { PATH });
    assert.equal(code, 0);
    assert.match(out, /^Name: +go-1\n/);
  });

  it('passes its exit code on, data on stdout and the rest on stderr', async () => {
    const drained = steady(await kubectl(`drain-by-taint ${maintenance} go-1`));
    assert.equal(drained.code, 0);
    assert.match(
      drained.out,
      /^node\/go-1 cordoned\nnode\/go-1 tainted\npod\/web-\S+ evicted .*\nnode\/go-1 drained \(1 pod\)\n$/,
    );
    assert.match(drained.err, /^hint: .*\n$/);
    const late = await kubectl(`drain-by-taint ${maintenance} stay-1 --timeout=5s`);
    assert.deepEqual([late.code, late.out], [3, 'node/stay-1 cordoned\nnode/stay-1 tainted\n']);
    assert.match(late.err, /^error: not drained within --timeout/);
    const wrong = await kubectl('explain node go-1 --context=nope');
    assert.deepEqual([wrong.code, wrong.out], [1, '']);
    assert.match(wrong.err, /^error: context "nope" does not exist in .*\n$/);
    for (const { out, err } of [drained, late, wrong])
      assert.ok(!(out + err).includes(escapeCharacter));
  });

  it('says of a mistake of ours that it is one; that is never an answer', async () => {
    const fault = 'setImmediate(()=>{throw(new(TypeError)(%22oops%22))})';
    const changes = { NODE_OPTIONS: `--import=data:text/javascript,${fault}` };
    const plain = await kubectl('explain node go-1', changes);
    assert.match(plain.err, /^error: crashed, which is a bug: TypeError: oops\n/);
    const caused = fault
      .replace('new(TypeError)', 'new(Error)')
      .replace('oops%22', 'web%22,{cause:7}');
    const told = await kubectl('explain node go-1', {
      NODE_OPTIONS: `--import=data:text/javascript,${caused}`,
    });
    assert.match(told.err, /^error: crashed, which is a bug: Error: web\n[\s\S]*\[cause\]: 7\n/);
    const { code } = await kubectl('explain node go-1 --exit-code', changes);
    assert.deepEqual([plain.code, code], [1, 2]);
  });

  it('ends well, without a word, when whoever reads it has seen enough', async () => {
    for (const line of ['explain node go-1', 'explain node --help']) {
      const child = spawn('kubectl', ['taintmgr', ...line.split(' ')], { env });
      // What `head` does when it has its lines: nobody reads any more.
      child.stdout.destroy();
      let err = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text;
      });
      const [code] = await once(child, 'close');
      assert.deepEqual([code, err], [0, ''], line);
    }
  });

  it('a drain goes on to its own end when nobody reads it any more', async () => {
    const line = `drain-by-taint ${maintenance} unread-1 --timeout=3s`;
    const child = spawn('kubectl', ['taintmgr', ...line.split(' ')], { env });
    child.stdout.destroy();
    child.stderr.destroy();
    assert.deepEqual(await once(child, 'close'), [3, null]);
    const marked = cluster.api.get('nodes', '', 'unread-1')?.metadata.annotations;
    assert.match(marked?.['taintmgr.dev/drain'] ?? '', /"ended":true/);
  });

  it('what a command has done is no success where it could not say so', async (t) => {
    const full = openSync('/dev/full', 'w');
    t.after(() => closeSync(full));
    const stdio: StdioOptions = ['ignore', full, 'pipe'];
    const args = ['taintmgr', 'undo', maintenance, 'unread-1'];
    const child = spawn('kubectl', args, { env, stdio });
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1, err);
    assert.equal(err.match(/error: cannot write to standard output: ENOSPC/g)?.length, 1, err);
    const after = cluster.api.get('nodes', '', 'unread-1');
    assert.equal(after?.metadata.annotations?.['taintmgr.dev/drain'], undefined);
    assert.equal(after?.spec.unschedulable, undefined);
  });

  it('says that what it prints could not be written, and nothing of success', async (t) => {
    const full = openSync('/dev/full', 'w');
    t.after(() => closeSync(full));
    const child = spawn('kubectl', ['taintmgr', 'snapshot'], {
      env,
      stdio: ['ignore', full, 'pipe'],
    });
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1, err);
    assert.match(err, /error: cannot write to standard output: ENOSPC/);
    assert.doesNotMatch(err, /objects/);
  });

  it('goes on after a crash, evicts nobody twice, and can still be undone', async () => {
    const zone = new Scenario(cluster, 'crash');
    const deleted: string[] = [];
    const forget = cluster.api.subscribe(({ resource, type, object: { metadata } }) => {
      if (resource === 'pods' && metadata.namespace === 'crash' && type === 'DELETED') {
        deleted.push(metadata.labels?.app ?? '');
      }
    });
    const args = ['taintmgr', 'drain-by-taint', maintenance, 'crash-1'];
    const child = spawn('kubectl', args, { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until('api to have gone', () => deleted.includes('api'));
    // kubectl has made way for the plugin: it is the same process.
    child.kill('SIGKILL');
    await ended;
    const budget = cluster.api.get('poddisruptionbudgets', 'crash', 'web');
    assert.ok(budget);
    const spec = { ...budget.spec, minAvailable: 0 };
    cluster.api.update('poddisruptionbudgets', { ...budget, spec });
    const tooSoon = await kubectl(args.slice(1).join(' '));
    assert.equal(tooSoon.code, 1);
    assert.match(
      tooSoon.err,
      /is at work on crash-1 .* if it was killed, until its mark is 1m old/,
    );
    ageMark(cluster, 'crash-1');
    const { code, out, err } = steady(await kubectl(args.slice(1).join(' ')));
    forget();
    assert.equal(code, 0, err);
    assert.match(out, /^node\/crash-1 already cordoned\nnode\/crash-1 already tainted\npod\/web-/);
    assert.deepEqual(deleted.sort(), ['api', 'web']);
    assert.match(err, /hint: to undo: kubectl taintmgr undo <drain>\n$/);
    const undone = await kubectl(`undo ${maintenance} crash-1`);
    assert.equal(undone.out, 'node/crash-1 uncordoned\nnode/crash-1 untainted\n');
    assert.deepEqual(zone.taints('crash-1'), []);
  });

  describe('on a terminal', { skip: withoutTerminal }, () => {
    const goesOn =
      'error: interrupted, 0 of 1 pod gone; run the same command again to continue\r\n';
    const line = `kubectl taintmgr drain-by-taint ${maintenance} watched-1`;

    it('rewrites one line in place, and ends with Ctrl-C', async () => {
      const terminal = new PseudoTerminal(line, { ...env, NO_COLOR: '1' }, 'cols 100 rows 30');
      await terminal.saw(
        /0 of 1 pod gone\r?\n {2}1 waiting for tolerations to expire \(next in \d+m(\d+s)?\)\r?\n {2}done in about [\s\S]*done in about /,
      );
      terminal.type('\u0003');
      const code = await terminal.ended();
      const { shown } = terminal;
      assert.ok(
        shown.includes(`${escapeCharacter}[2K`),
        `a line was erased: ${JSON.stringify(shown)}`,
      );
      assert.doesNotMatch(shown.replaceAll(escapeCharacter, '^['), /\^\[\[[\d;]*m/, 'no colours');
      assert.ok(shown.includes(goesOn), shown);
      assert.equal(code, 130, shown);
    });

    it('writes plain lines where the terminal has no size', async () => {
      const terminal = new PseudoTerminal(line, { ...env, NO_COLOR: '1' }, 'cols 0 rows 0');
      await terminal.saw(/tainted\r\n/);
      terminal.type('\u0003');
      assert.equal(await terminal.ended(), 130, terminal.shown);
      assert.ok(!terminal.shown.includes(escapeCharacter), JSON.stringify(terminal.shown));
      assert.match(terminal.shown, /error: interrupted/);
    });

    it('colours warnings, unless a flag says not to', async () => {
      const wrong = `${line} --dry-run`;
      const yellow = `${escapeCharacter}[33m`;
      for (const [flags, changes, expected] of [
        ['', {}, true],
        ['', { NO_COLOR: '1' }, false],
        [' --color=never', {}, false],
        [' --color=always', { NO_COLOR: '1' }, true],
      ] as const) {
        const terminal = new PseudoTerminal(`${wrong}${flags}`, { ...env, ...changes });
        assert.equal(await terminal.ended(), 0, terminal.shown);
        assert.equal(terminal.shown.includes(yellow), expected, JSON.stringify(terminal.shown));
      }
    });
  });
});
