import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createEngine, type Event, type Pod, parseTaint } from '@taintmgr/core';
import type { FlightEnd, FlightHead, FlightStep, Machine } from '@taintmgr/k8s-adapter';
import { Registry } from 'prom-client';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import {
  FlightRecorder,
  type FlightRecorderOptions,
  startFlightRecorder,
} from '../../src/flight/recorder.ts';
import { createLogger } from '../../src/log/logger.ts';
import { Meter } from '../../src/metrics/meter.ts';
import { engineConfig } from '../../src/process/engine-config.ts';

const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'FlightRecord', version: '1' } as const;
const pod: Pod = {
  ...{ namespace: 'shop', name: 'web-0', uid: 'p1', nodeName: 'n1', phase: 'Running' },
  ...{ tolerations: [], boundAt: null, deletionTimestamp: null, generation: 1, mirror: false },
  ...{ owner: null, hasEmptyDir: false },
};
const story: readonly Event[] = [
  { kind: 'podUpsert', pod },
  { kind: 'synced' },
  {
    kind: 'nodeUpsert',
    node: { name: 'n1', uid: 'u1', taints: [parseTaint('bad=yes:NoExecute')] },
  },
  { kind: 'tick' },
];

let directory = '';
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'taintmgr-flight-'));
});
after(() => rmSync(directory, { recursive: true }));

interface Watched {
  readonly recorder: FlightRecorder;
  /** Why recording ended, in order. */
  readonly reasons: readonly string[];
  /** Resolves when recording has ended. */
  readonly ended: Promise<void>;
}

function watch(name: string, options: Partial<FlightRecorderOptions> = {}): Watched {
  const reasons: string[] = [];
  let resolve = (): void => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  const recorder = new FlightRecorder({
    path: join(directory, name),
    sizeMax: 2 ** 20,
    backups: 2,
    head: { ...head, engine: {} },
    onEnd: (why) => {
      reasons.push(why);
      resolve();
    },
    ...options,
  });
  return { recorder, reasons, ended };
}

/** Has a machine handle the events, one a second; the kinds of its commands. */
function handle(machine: Machine, events: readonly Event[] = story): readonly string[] {
  return events.flatMap((event, index) => {
    return machine.handle(index * 1000, event).map(({ kind }) => kind);
  });
}

function read(name: string): (FlightHead | FlightStep | FlightEnd)[] {
  const bytes = readFileSync(join(directory, name));
  const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  assert.ok(text.endsWith('\n'));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function stepsOf(name: string): readonly FlightStep[] {
  return read(name).filter((line) => 'step' in line);
}

describe('a record that was there already', () => {
  for (const backups of [0, 1]) {
    it(`is for nobody else any more, with ${backups} backups`, async () => {
      const name = `open-${backups}`;
      writeFileSync(join(directory, name), 'old', { mode: 0o644 });
      chmodSync(join(directory, name), 0o644);
      const { recorder } = watch(name, { backups });
      handle(recorder.around(createEngine()));
      await recorder.close();
      const names = backups === 0 ? [name] : [name, `${name}.1`];
      for (const one of names) assert.equal(statSync(join(directory, one)).mode & 0o777, 0o600);
    });
  }
});

describe('a link in the place of a record', () => {
  for (const backups of [0, 2]) {
    for (const there of [true, false]) {
      it(`is not followed, with ${backups} backups, to a file that ${there ? 'is' : 'is not'} there`, async () => {
        const folder = mkdtempSync(join(directory, 'links-'));
        const aim = (name: string): string => join(folder, `aim-of-${name}`);
        const names = ['record', 'record.1'];
        for (const name of names) {
          if (there) writeFileSync(aim(name), 'theirs', { mode: 0o644 });
          symlinkSync(aim(name), join(folder, name));
        }
        const { recorder } = watch(relative(directory, join(folder, 'record')), { backups });
        handle(recorder.around(createEngine()));
        await recorder.close();
        const made = lstatSync(join(folder, 'record'));
        assert.deepEqual([made.isFile(), made.mode & 0o777], [true, 0o600]);
        for (const name of names) {
          assert.equal(existsSync(aim(name)), there);
          if (!there) continue;
          assert.equal(readFileSync(aim(name), 'utf8'), 'theirs');
          assert.equal(statSync(aim(name)).mode & 0o777, 0o644);
        }
      });
    }
  }

  it('leaves nothing to whoever had the file open before', async () => {
    writeFileSync(join(directory, 'watched'), 'old');
    const descriptor = openSync(join(directory, 'watched'), 'r');
    const { recorder } = watch('watched', { backups: 0 });
    handle(recorder.around(createEngine()));
    await recorder.close();
    assert.equal(readFileSync(descriptor, 'utf8'), 'old');
    closeSync(descriptor);
  });
});

describe('a flight recorder', () => {
  it('writes down each event and what the engine answers', async () => {
    const { recorder, reasons } = watch('whole');
    const done = handle(recorder.around(createEngine()));
    assert.equal(recorder.active, true);
    await recorder.close();
    assert.equal(recorder.active, false);
    const [first, ...lines] = read('whole');
    assert.deepEqual(first, { ...head, engine: {}, startedAt: '1970-01-01T00:00:00.000Z' });
    assert.deepEqual(lines.pop(), { end: 'stopped' });
    const steps = stepsOf('whole');
    assert.deepEqual(
      steps.map(({ step, at, event }) => ({ step, at, event })),
      story.map((event, index) => ({ step: index + 1, at: index * 1000, event })),
    );
    assert.deepEqual(
      steps.flatMap(({ commands = [] }) => commands.map(({ kind }) => kind)),
      done,
    );
    assert.deepEqual(done, ['recordEvent', 'deletePod']);
    assert.equal(recorder.size, Buffer.byteLength(readFileSync(join(directory, 'whole'))));
    assert.deepEqual([reasons, recorder.lost], [[], 0]);
  });

  it('ends when the file is full, with a line that says so, and the engine goes on', async () => {
    const plain = handle(createEngine());
    for (let sizeMax = 1; sizeMax < 1200; sizeMax += 37) {
      const { recorder, reasons } = watch('full', { sizeMax, backups: 0 });
      assert.deepEqual(handle(recorder.around(createEngine())), plain);
      await recorder.close();
      const { length } = readFileSync(join(directory, 'full'));
      assert.ok(length <= sizeMax, `${length} of ${sizeMax}`);
      if (recorder.lost === 0) continue;
      assert.deepEqual(reasons, [`it has reached ${sizeMax} bytes`]);
      if (length > 0) assert.deepEqual(read('full').at(-1), { end: 'full' });
      assert.equal(length === 0 ? 0 : stepsOf('full').length, story.length - recorder.lost);
    }
  });

  it('compresses a file whose name ends in .gz, and knows how large it becomes', async () => {
    const sizeMax = 100_000;
    const { recorder, reasons } = watch('packed.gz', { sizeMax, backups: 0 });
    const machine = recorder.around(createEngine());
    for (let at = 0; recorder.lost === 0; at++) machine.handle(at, { kind: 'tick' });
    await recorder.close();
    assert.deepEqual(reasons, [`it has reached ${sizeMax} bytes`]);
    assert.deepEqual(read('packed.gz').at(-1), { end: 'full' });
    const { length } = readFileSync(join(directory, 'packed.gz'));
    const text = read('packed.gz')
      .map((line) => JSON.stringify(line))
      .join('\n');
    assert.ok(length <= sizeMax, `${length} bytes`);
    assert.ok(text.length > sizeMax, `${text.length} bytes of text in ${length}`);
  });

  it('writes what waits to be compressed after a second', async () => {
    const { recorder } = watch('timed.gz');
    handle(recorder.around(createEngine()));
    while (statSync(join(directory, 'timed.gz')).size === 0) await setImmediate();
    assert.equal(stepsOf('timed.gz').length, story.length);
    await recorder.close();
    assert.deepEqual(read('timed.gz').at(-1), { end: 'stopped' });
  });

  const disks: readonly (readonly [what: string, path: string, why: RegExp])[] = [
    ['a disk without room', '/dev/full', /^ENOSPC/],
    ['a folder that is not there', '/nowhere/flight.jsonl', /^ENOENT/],
    ['a folder in its place', tmpdir(), /^EISDIR/],
  ];
  for (const [what, path, why] of disks) {
    it(`tells once of ${what}, and the engine goes on`, async () => {
      // No backups: a mistake in this test would rename a device.
      const { recorder, reasons, ended } = watch('', { path, backups: 0 });
      const machine = recorder.around(createEngine());
      assert.deepEqual(handle(machine), handle(createEngine()));
      await ended;
      machine.handle(10_000, { kind: 'tick' });
      await recorder.close();
      assert.equal(reasons.length, 1);
      assert.match(reasons[0] ?? '', why);
      assert.equal(recorder.active, false);
      assert.ok(recorder.lost > 0);
    });
  }

  it('keeps recordings of earlier starts, and none of starts that came to nothing', async () => {
    const starts = [1, 2, 0, 3, 4, 0];
    for (const count of starts) {
      const { recorder } = watch('rotated');
      handle(recorder.around(createEngine()), story.slice(0, count));
      await recorder.close();
    }
    const files = readdirSync(directory).filter((name) => name.startsWith('rotated'));
    assert.deepEqual(
      files.sort().map((name) => [name, stepsOf(name).length]),
      [
        ['rotated', 4],
        ['rotated.1', 3],
        ['rotated.2', 2],
      ],
    );
  });

  it('leaves out what others have written into messages', async () => {
    const { recorder } = watch('redacted');
    const machine = recorder.around(createEngine());
    const times = { heartbeatAt: 0, transitionAt: 0 };
    const node = {
      ...{ name: 'n1', uid: 'u1', labels: { team: 'blue' } },
      taints: [parseTaint('bad=yes:NoExecute')],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ok', message: 'hush', ...times }],
    };
    handle(machine, [{ kind: 'nodeUpsert', node }, { kind: 'podUpsert', pod }, { kind: 'synced' }]);
    const sent = machine.handle(5000, { kind: 'tick' }).find(({ kind }) => kind === 'deletePod');
    assert.ok(sent && 'id' in sent);
    const budget = 'The disruption budget web needs 2 healthy pods and has 1 currently';
    const setbacks = [
      { kind: 'failed', status: 500, message: 'webhook said: hush', retryAfter: null },
      { kind: 'blocked', message: budget, retryAfter: null },
      { kind: 'failed', status: 500, message: `hush: ${budget}`, retryAfter: null },
    ] as const;
    for (const [index, outcome] of setbacks.entries()) {
      machine.handle(6000 + index * 10_000, { kind: 'result', id: sent.id, outcome });
      machine.handle(15_000 + index * 10_000, { kind: 'tick' });
    }
    await recorder.close();
    const text = readFileSync(join(directory, 'redacted'), 'utf8');
    assert.doesNotMatch(text, /hush/);
    assert.match(text, /"report":\{"kind":"retry".*"message":"redacted \([0-9a-f]{4}\)"/);
    assert.ok(text.includes(budget));
    assert.match(text, /"team":"blue"/);
  });

  it('writes down what stopped the engine', async () => {
    const { recorder } = watch('threw');
    const machine = recorder.around(createEngine());
    machine.handle(5, { kind: 'tick' });
    assert.throws(() => machine.handle(4, { kind: 'tick' }), /time goes forward/);
    await recorder.close();
    assert.match(stepsOf('threw').at(-1)?.threw ?? '', /time goes forward: 4 after 5/);
  });

  it('leaves a usable file when the disk fills up in the middle of a line', () => {
    const program = `
      const reasons = [];
      const recorder = new FlightRecorder({ ...options, onEnd: (why) => reasons.push(why) });
      const machine = recorder.around({ handle: () => [], nextWake: () => null });
      for (let at = 0; reasons.length === 0; at++) {
        machine.handle(at, { kind: 'tick' });
        if (at % 100 === 0) await new Promise(setImmediate);
      }
      machine.handle(1e9, { kind: 'tick' });
      await recorder.close();
      process.stdout.write(JSON.stringify({ reasons, isLost: recorder.lost > 0 }));`;
    const limited = ['-c', 'ulimit -f 40; exec "$0" "$@"', process.execPath];
    const { stdout } = spawnSync('sh', [...limited, ...programFlags('cut', program)], { cwd });
    const said: { reasons: string[]; isLost: boolean } = JSON.parse(String(stdout));
    assert.deepEqual(said, { reasons: ['EFBIG: file too large, write'], isLost: true });
    const lines = readFileSync(join(directory, 'cut'), 'utf8').split('\n');
    assert.ok(lines.length > 100);
    for (const [index, line] of lines.slice(1, -1).entries()) {
      assert.equal(JSON.parse(line).step, index + 1);
    }
    assert.notEqual(lines.at(-1), '');
  });

  for (const name of ['exit', 'exit.gz']) {
    it(`has written everything of ${name} when the process ends at once`, () => {
      const program = `
        const recorder = new FlightRecorder(options);
        const machine = recorder.around({ handle: () => [], nextWake: () => null });
        const { statSync } = await import('node:fs');
        for (let at = 0; at < 5000; at++) {
          machine.handle(at, { kind: 'tick' });
          // What is in the file by now stays as it is.
          if (at !== 2500) continue;
          for (let size = 0; size === 0 || recorder.size > size; ) {
            await new Promise(setImmediate);
            size = statSync(options.path).size;
          }
          for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
        }
        process.exit(3);`;
      const { status } = spawnSync(process.execPath, programFlags(name, program), { cwd });
      assert.equal(status, 3);
      assert.deepEqual(
        stepsOf(name).map(({ step }) => step),
        Array.from({ length: 5000 }, (_, index) => index + 1),
      );
    });
  }
});

const cwd = import.meta.dirname;

/** What to start node with for a program that has the recorder and its options. */
function programFlags(name: string, program: string): readonly string[] {
  const source = new URL('../../src/flight/recorder.ts', import.meta.url).href;
  const options = { path: join(directory, name), sizeMax: 1e9, backups: 0, head };
  const before = `
    import { FlightRecorder } from ${JSON.stringify(source)};
    const options = ${JSON.stringify(options)};`;
  return ['-C', '@taintmgr/source', '--input-type=module', '-e', `${before}${program}`];
}

const idle = { handle: () => [], nextWake: () => null };

/** A folder of its own for the test. */
function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-flight-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

function start(...flags: readonly string[]): FlightRecorder | null {
  const choices = resolveChoices(flags, {});
  const log = createLogger({ format: 'json', verbose: false, write: () => {} });
  const engine = engineConfig(choices, checkChoices(choices));
  return startFlightRecorder({
    settings: choices.settings,
    engine,
    meter: new Meter(new Registry()),
    log,
  });
}

/** Records a step, and says what the first line of the file is. */
async function headOf(file: string, ...flags: readonly string[]) {
  const recorder = start(`--flight-record=${file}`, ...flags) ?? assert.fail();
  recorder.around(idle).handle(0, { kind: 'tick' });
  await recorder.close();
  return JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '');
}

describe('a flight record', () => {
  it('is none where no file is named', () => assert.equal(start(), null));

  it('names the seed of a cluster that is embedded, and of no other', async (t) => {
    const file = join(folder(t), 'flight');
    const { seed } = await headOf(file);
    assert.equal(seed, undefined);
    assert.equal((await headOf(file, '--simulate', '--seed=7')).seed, 7);
  });

  it('becomes as large as its megabytes, and no larger', async (t) => {
    const file = join(folder(t), 'flight');
    const recorder = start(`--flight-record=${file}`, '--flight-record-maxsize=1') ?? assert.fail();
    const machine = recorder.around(idle);
    for (let at = 0; recorder.lost === 0; at++) machine.handle(at, { kind: 'tick' });
    await recorder.close();
    assert.ok(recorder.size <= 2 ** 20 && recorder.size > 2 ** 20 - 1000, `${recorder.size}`);
  });

  it('is kept for so many starts', async (t) => {
    const file = join(folder(t), 'flight');
    for (let i = 0; i < 4; i++) await headOf(file, '--flight-record-maxbackup=2');
    const kept = [1, 2, 3].map((number) => existsSync(`${file}.${number}`));
    assert.deepEqual(kept, [true, true, false]);
  });
});
