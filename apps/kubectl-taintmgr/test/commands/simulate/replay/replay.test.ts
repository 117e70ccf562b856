import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { deployment, pdb, toleration } from '@taintmgr/sim-cluster';
import {
  differenceOf,
  type EngineAnswer,
} from '../../../../src/commands/simulate/replay/replay.ts';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';
import { startTestCluster, type TestCluster, until } from '../../../world/test-cluster.ts';

// simulate --replay of what a controller has written down that ran as a process of its own against a
// cluster over HTTPS: it is killed, started again and stopped. What is wrong is then made so by hand.

const program = fileURLToPath(new URL('../../../../../controller/src/main.ts', import.meta.url));
const { path, write } = temporaryFiles();
const taint = 'maintenance=kernel:NoExecute';

let cluster: TestCluster;
let controller: ChildProcess | null = null;
let log = '';

function startController(): void {
  const flags = [
    ...['--kubeconfig', cluster.kubeconfig, '--secure-port=0', '--leader-elect=false'],
    ...['--flight-record', path('flight.jsonl'), '--mode=evict', '--node-monitor-period=500ms'],
    ...['--node-monitor-grace-period=3s', '--allow-overlap'],
  ];
  log = '';
  controller = spawn(process.execPath, ['-C', '@taintmgr/source', program, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  controller.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
}

async function saw(message: string): Promise<void> {
  await until(`the log to say ${message}`, () => log.includes(message));
}

async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (!controller) return;
  const closed = once(controller, 'close');
  controller.kill(signal);
  await closed;
  controller = null;
}

function taintNode(name: string): void {
  const { api } = cluster;
  const node = api.get('nodes', '', name);
  assert.ok(node);
  const [key, value] = ['maintenance', 'kernel'];
  const taints = [{ key, value, effect: 'NoExecute' }];
  api.update('nodes', { ...node, spec: { ...node.spec, taints } });
}

before(async () => {
  cluster = await startTestCluster({
    region: 'r',
    zones: ['zone-a', 'zone-b'],
    nodesPerZone: 2,
    workloads: [
      deployment('shop', 'web', { replicas: 6 }),
      deployment('shop', 'db', { replicas: 3, tolerations: [toleration(taint, 1)] }),
    ],
    budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
  });
  startController();
  await saw('synced');
  taintNode('zone-a-1');
  await saw('evicted');
  await end('SIGKILL');
  startController();
  await saw('synced');
  cluster.cluster.node('zone-b-1').stop();
  taintNode('zone-a-2');
  await saw('changed taints of a node');
  await saw('evicted');
  await end('SIGTERM');
});
after(async () => {
  await end('SIGKILL');
  await cluster.stop();
});

describe('simulate --replay', () => {
  it('does the same as the controller that was killed, and as the one after it', async () => {
    const all = [
      ['flight.jsonl.1', /ends without saying so|the last line is cut off/],
      ['flight.jsonl', /^$/],
    ] as const;
    for (const [name, note] of all) {
      const { code, out, err } = await run('simulate', '--replay', path(name));
      assert.equal(code, 0, out + err);
      assert.match(out, /^evictPod +\d+$/m);
      assert.match(out, /^\d+ events, \d+ commands: this build does the same\n/);
      assert.match(err, note);
      const json = await run('simulate', '--replay', path(name), '-o', 'json');
      const { events, same, commands } = JSON.parse(json.out);
      const lines = linesOf(name);
      const steps = lines.filter((line) => line.startsWith('{"step"')).map((line) => ({ line }));
      assert.ok(Math.abs(steps.length - events) <= 1, `${steps.length} steps, ${events} events`);
      assert.equal(same, true);
      assert.ok(commands.evictPod > 0);
    }
  });

  it('says what is different where a command is not in the recording', async () => {
    const { out, line, pod } = await altered((commands) => commands.slice(1));
    assert.match(out, /^ {2}recorded: {3}nothing$/m);
    assert.match(out, new RegExp(`^  this build: evictPod ${pod}, because of \\w+`, 'm'));
    assert.match(
      out,
      new RegExp(`then a difference: event \\d+ at \\S+Z \\(\\S+:${line}\\)$`, 'm'),
    );
    assert.match(out, new RegExp(`^  reason:     pod ${pod} on zone-\\S+: evict at \\S+Z`, 'm'));
  });

  it('says what is different in a command', async () => {
    const { out, pod } = await altered(([first, ...rest]) => {
      return [{ ...first, gracePeriodSeconds: 7 }, ...rest];
    });
    assert.match(out, new RegExp(`^  recorded:   evictPod ${pod}, because of`, 'm'));
    assert.match(out, new RegExp(`^  this build: evictPod ${pod}, because of`, 'm'));
    assert.match(out, /^ {4}gracePeriodSeconds: 7, now null$/m);
  });

  it('says the first thing that another configuration does', async () => {
    const [head = '', ...rest] = linesOf('flight.jsonl');
    const other = head.replace('"mode":"evict"', '"mode":"delete"');
    assert.notEqual(other, head);
    const file = write('other.jsonl', [other, ...rest].join('\n'));
    const { code, out } = await run('simulate', '--replay', file, '-o', 'json');
    assert.equal(code, 2);
    const { same, difference, events } = JSON.parse(out);
    assert.equal(same, false);
    assert.equal(difference.recorded.kind, 'evictPod');
    assert.equal(difference.replayed.kind, 'deletePod');
    assert.equal(difference.step, events + 1);
    assert.equal(difference.line, difference.step + 1);
    assert.equal(difference.event.kind, 'tick');
  });

  it('takes nothing beside it that says what happens', async () => {
    const { code, err } = await run('simulate', '--replay', path('flight.jsonl'), '--seed', '2');
    assert.equal(code, 1);
    assert.match(err, /option '--replay <file>' cannot be used with option '--seed <number>'/);
  });
});

const head = (engine: object, more: object = {}): string =>
  JSON.stringify({
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'FlightRecord', version: '0.1.0' },
    ...{ startedAt: '2026-01-01T00:00:00.000Z', engine, ...more },
  });
const tick = (step: number, at: number): string =>
  JSON.stringify({ step, at, event: { kind: 'tick' } });

type CommandValue = Readonly<Record<string, unknown>>;

/** Plays the recording with the first eviction changed, which is to be found different. */
async function altered(
  change: (commands: readonly CommandValue[]) => readonly CommandValue[],
): Promise<{ readonly out: string; readonly line: number; readonly pod: string }> {
  const lines = linesOf('flight.jsonl');
  const index = lines.findIndex((line) => line.includes('"kind":"evictPod"'));
  const { commands, ...step } = JSON.parse(lines[index] ?? '');
  const first = commands.findIndex(({ kind }: CommandValue) => kind === 'evictPod');
  const { namespace, name } = commands[first].pod;
  const kept = commands.slice(0, first);
  lines[index] = JSON.stringify({
    ...step,
    commands: [...kept, ...change(commands.slice(first, first + 1))],
  });
  const file = write('altered.jsonl', lines.join('\n'));
  const { code, out, err } = await run('simulate', '--replay', file);
  assert.deepEqual([code, err], [2, '']);
  return { out, line: index + 1, pod: `${namespace}/${name}` };
}

function linesOf(name: string): string[] {
  return readFileSync(path(name), 'utf8').split('\n');
}

describe('a compressed recording', () => {
  it('is known by its first bytes, and played', async () => {
    const file = path('flight.packed');
    writeFileSync(file, gzipSync(readFileSync(path('flight.jsonl'))));
    const plain = await run('simulate', '--replay', path('flight.jsonl'));
    const { code, out, err } = await run('simulate', '--replay', file);
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out, plain.out.replace('flight.jsonl', 'flight.packed'));
  });

  it('that was cut off is played as far as it goes', async () => {
    const text = `${[head({}), tick(1, 5), tick(2, 6)].join('\n')}\n`;
    const parts = Buffer.concat([gzipSync(text), gzipSync(tick(3, 7))]);
    const file = path('cut.jsonl.gz');
    for (let missing = 1; missing < 40; missing++) {
      writeFileSync(file, parts.subarray(0, -missing));
      const { code, out, err } = await run('simulate', '--replay', file);
      assert.equal(code, 0, err);
      assert.match(out, /^[23] events, 0 commands: this build does the same$/m);
      assert.match(err, /ends without saying so|the last line is cut off/);
    }
  });

  it('that unpacks to a line without an end is not read to its end', async () => {
    const file = path('bomb.jsonl.gz');
    writeFileSync(file, gzipSync(Buffer.alloc(40 * 2 ** 20, 'x')));
    const { code, out, err } = await run('simulate', '--replay', file);
    assert.deepEqual([code, out], [1, '']);
    const want = 'want a recording of taintmgr-controller --flight-record';
    assert.equal(err, `error: ${file}:1: longer than any line of a recording, ${want}\n`);
  });

  it('that is broken is not played', async () => {
    const bytes = gzipSync([head({}), tick(1, 5), ''].join('\n'));
    bytes.fill(0xff, 20, 60);
    const file = path('broken.jsonl.gz');
    writeFileSync(file, bytes);
    const { code, out, err } = await run('simulate', '--replay', file);
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.startsWith(`error: ${file}:1: gzip: `), err);
    assert.deepEqual(await run('history', '--flight-record', file), { code, out, err });
  });
});

/** The next step for a recording that is damaged. */
const nextStep =
  /, want a recording of taintmgr-controller --flight-record$|; copy the recording again($|, or read what stands before: gzip -cdf \S+ \| head -n \d+ > PART$)/m;

describe('a recording', () => {
  const broken: readonly (readonly [what: string, lines: readonly string[], fault: string])[] = [
    [
      'that is empty',
      [],
      '1: the file is empty, want a recording of taintmgr-controller --flight-record',
    ],
    [
      'that is something else',
      ['{"items": []}', ''],
      '1: apiVersion: got nothing, want taintmgr.dev/v1alpha1',
    ],
    [
      'cut off in its first line',
      ['{"apiVersion":'],
      '1: the recording was cut off in its first line',
    ],
    [
      'of a node lifecycle that cannot be',
      [head({ lifecycle: 'x' }), ''],
      '1: engine.lifecycle: got "x", want an object or null',
    ],
    [
      'that began at no time',
      [head({}, { startedAt: 'yesterday' }), ''],
      '1: startedAt: got "yesterday", want a time such as ',
    ],
    [
      'of another kind',
      [head({}, { kind: 'AuditRecord' }), ''],
      '1: kind: got "AuditRecord", want FlightRecord',
    ],
    [
      'of a NodeDrain that is not there',
      [head({}), '{"step":1,"at":1,"event":{"kind":"nodeDrainUpsert"}}', ''],
      '2: event.drain: got nothing, want an event nodeDrainUpsert with object drain',
    ],
    [
      'with garbage',
      [head({}), tick(1, 5), '%&', ''],
      `3: no JSON: Unexpected token '%', "%&" is not valid JSON`,
    ],
    [
      'with a step missing',
      [head({}), tick(1, 5), tick(3, 6), ''],
      '3: step: got 3, want 2: something is missing here',
    ],
    [
      'in which time goes back',
      [head({}), tick(1, 5), tick(2, 4), ''],
      '3: at: got 4, which is before the 5 of the last step',
    ],
    [
      'of an event that nobody knows',
      [head({}), '{"step":1,"at":1,"event":{"kind":"tock"}}', ''],
      '2: event.kind: got "tock", want nodeUpsert, nodeDelete,',
    ],
    [
      'of an event that says too little',
      [head({}), '{"step":1,"at":1,"event":{"kind":"podDelete"}}', ''],
      '2: event.uid: got nothing, want an event podDelete with string uid',
    ],
    [
      'that goes on after its end',
      [head({}), '{"end":"stopped"}', tick(1, 5), ''],
      '3: nothing is expected after the end',
    ],
  ];
  for (const [what, lines, fault] of broken) {
    it(`${what} is neither played nor told of`, async () => {
      const file = write('broken.jsonl', lines.join('\n'));
      const played = await run('simulate', '--replay', file);
      assert.deepEqual([played.code, played.out], [1, '']);
      assert.ok(played.err.startsWith(`error: ${file}:${fault}`), played.err);
      assert.match(played.err, nextStep);
      assert.deepEqual(await run('history', '--flight-record', file), played);
    });
  }

  const unplayable: typeof broken = [
    [
      'of an engine that cannot be',
      [head({ mode: 'gently' }), ''],
      '1: engine.mode: got "gently", want delete or evict or evict-then-delete',
    ],
    [
      'of an engine with values of other kinds',
      [head({ limits: 'x' }), ''],
      '1: engine: no engine can be made of it: TypeError',
    ],
  ];
  for (const [what, lines, fault] of unplayable) {
    it(`${what} is not played`, async () => {
      const file = write('broken.jsonl', lines.join('\n'));
      const { code, out, err } = await run('simulate', '--replay', file);
      assert.deepEqual([code, out], [1, '']);
      assert.ok(err.startsWith(`error: ${file}:${fault}`), err);
    });
  }

  it('that is not there is named', async () => {
    const { code, err } = await run('simulate', '--replay', path('none.jsonl'));
    assert.equal(code, 1);
    assert.equal(err, `error: --replay ${path('none.jsonl')}: no such file\n`);
  });

  const endings: readonly (readonly [what: string, last: string, note: string])[] = [
    [
      'is cut off in its last line',
      '{"step":3,"at":7,"eve',
      ':4: the last line is cut off; all before it was played',
    ],
    ['was full', '{"end":"full"}\n', ' ends because it was full; what came after is not in it'],
    [
      'ends without its last line',
      '',
      ' ends without saying so: it was still being written, or its writer was killed',
    ],
    ['was ended in order', '{"end":"stopped"}\n', ''],
  ];
  for (const [what, last, note] of endings) {
    it(`that ${what} is played as far as it goes`, async () => {
      const file = write('end.jsonl', `${[head({}), tick(1, 5), tick(2, 6)].join('\n')}\n${last}`);
      const { code, out, err } = await run('simulate', '--replay', file);
      assert.equal(code, 0);
      assert.match(out, /^2 events, 0 commands: this build does the same$/m);
      assert.equal(err, note === '' ? '' : `Warning: ${file}${note}\n`);
    });
  }

  it('of an engine that stopped stops it again, or says that it does not', async () => {
    const stops = (threw: string): string =>
      JSON.stringify({ step: 1, at: 5, event: { kind: 'nodeUpsert', node: { name: 'n' } }, threw });
    const words = 'RangeError: event.node: want what makeNode makes';
    const file = write('stopped.jsonl', [head({}), stops('Error: other'), ''].join('\n'));
    const other = await run('simulate', '--replay', file);
    assert.equal(other.code, 2);
    assert.match(other.out, /^ {2}recorded: {3}stops: Error: other$/m);
    const [, found = words] = /this build: stops: (.*)/.exec(other.out) ?? [];
    const same = write('same.jsonl', [head({}), stops(found), ''].join('\n'));
    const { code, out } = await run('simulate', '--replay', same);
    assert.equal(code, 0);
    assert.match(out, /^Then as now the engine stops: RangeError/m);
  });

  it('steers no terminal', async () => {
    const stops = JSON.stringify({
      ...{ step: 1, at: 5, event: { kind: 'nodeUpsert', node: { name: 'n' } } },
      threw: 'Error: \u001b[2J',
    });
    const first = head({}, { version: '\u001b[31m9.9' });
    const file = write('steering.jsonl', [first, stops, ''].join('\n'));
    const { code, out, err } = await run('simulate', '--replay', file);
    assert.equal(code, 2);
    assert.match(out, /, recorded by \^\[\[31m9\.9, by the rules of taintmgr\n/);
    assert.match(err, /^Note: recorded by \^\[\[31m9\.9; this is /m);
    assert.ok(!`${out}${err}`.includes('\u001b'));
  });

  it('with a setting that this build has not is played without it, and that is said', async () => {
    const odd = { 'warp\u001b': 1, lifecycle: { drift: 1 } };
    const lines = [head(odd), tick(1, 5), '{"end":"stopped"}', ''];
    const { code, err } = await run('simulate', '--replay', write('warp.jsonl', lines.join('\n')));
    assert.equal(code, 0);
    assert.equal(
      err,
      'Warning: engine.warp^[: this build has no such setting, and plays without it\n' +
        'Warning: engine.lifecycle.drift: this build has no such setting, and plays without it\n',
    );
  });
});

// What counts as a difference between a recording and this build, however one of them has stopped.

const place = { step: 3, at: 5, event: { kind: 'tick' } } as const;

/** A recorded step that stopped the engine so, or did not; it asked for nothing. */
function differenceBetween(recorded: string | null, replayed: string | null): unknown {
  const step = { ...place, ...(recorded !== null && { threw: recorded }) };
  const answer: EngineAnswer = { commands: [], threw: replayed };
  const found = differenceOf(7, step, answer);
  return found && [found.line, found.command, found.recorded, found.replayed];
}

describe('the difference of a step', () => {
  const cases = [
    [null, null, null],
    ['it broke', 'it broke', null],
    ['it broke', null, [7, null, 'it broke', null]],
    [null, 'it broke', [7, null, null, 'it broke']],
    ['it broke', 'otherwise', [7, null, 'it broke', 'otherwise']],
  ] as const;
  for (const [recorded, replayed, expected] of cases) {
    it(`recorded: ${recorded}, played: ${replayed}`, () => {
      assert.deepEqual(differenceBetween(recorded, replayed), expected);
    });
  }
});

describe('history --flight-record', () => {
  it('tells who left, where nothing else does', async () => {
    const empty = await startTestCluster({
      ...{ region: 'r', zones: ['a'], nodesPerZone: 0, workloads: [], budgets: [] },
    });
    try {
      const kubeconfig = ['--kubeconfig', empty.kubeconfig];
      const file = ['--flight-record', path('flight.jsonl')];
      const { code, out } = await run('history', '-n', 'shop', ...file, ...kubeconfig);
      assert.equal(code, 0);
      const rows = out.split('\n').filter((line) => line.includes('maintenance=kernel:NoExecute'));
      assert.ok(rows.length > 1, out);
      // Of some the record ends before a budget let them go.
      const stories = rows.map(async (row) => {
        const [, pod = ''] = row.split(/ {2,}/);
        return (await run('history', 'pod', pod, '-n', 'shop', ...file, ...kubeconfig)).out;
      });
      const accepted = (await Promise.all(stories)).find((story) => story.includes('accepted'));
      assert.match(
        accepted ?? '',
        /by taintmgr-controller, for taint maintenance=kernel:NoExecute/,
      );
      assert.match(accepted ?? '', /accepted.* \[flight record\]/);
    } finally {
      await empty.stop();
    }
  });

  it('tells what a record says that is cut off in its last line, and where that is', async () => {
    const empty = await startTestCluster({
      ...{ region: 'r', zones: ['a'], nodesPerZone: 0, workloads: [], budgets: [] },
    });
    try {
      const [lines, whole] = [linesOf('flight.jsonl'), path('flight.jsonl')];
      const cut = `${lines.slice(0, -2).join('\n')}\n{"step":`;
      const files = [write('cut.jsonl', cut), path('cut.packed')] as const;
      writeFileSync(files[1], gzipSync(cut));
      const ask = (file: string) => {
        const flags = ['--flight-record', file, '--kubeconfig', empty.kubeconfig];
        return run('history', '-n', 'shop', '-o', 'name', ...flags);
      };
      const { out } = await ask(whole);
      for (const file of files) {
        const found = await ask(file);
        assert.deepEqual([found.code, found.out], [0, out]);
        const warning = `${file}:${lines.length - 1}: the last line is cut off; all before it was read`;
        assert.match(found.err, new RegExp(`^Warning: ${warning}\n`));
      }
    } finally {
      await empty.stop();
    }
  });

  it('names a file that is none', async () => {
    const { code, err } = await run('history', '--flight-record', path('none.jsonl'));
    assert.equal(code, 1);
    assert.match(err, /--flight-record .*none\.jsonl: no such file/);
  });
});
