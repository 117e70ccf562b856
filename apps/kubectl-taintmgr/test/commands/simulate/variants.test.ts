import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

const { path, write: file } = temporaryFiles();

const policy = (name: string, spec: object): object => ({
  apiVersion: 'taintmgr.dev/v1alpha1',
  kind: 'EvictionPolicy',
  metadata: { name },
  spec,
});
const unreachable = { taints: [{ key: 'node.kubernetes.io/unreachable' }] };
const script = { events: [{ at: '2m', stopKubelet: { zone: 'zone-b' }, lasts: '15m' }] };

interface RunDocument {
  readonly name: string;
  readonly semantics: string;
  readonly summary: { readonly evictions: number };
  readonly differences: { readonly evictions: number } | null;
}

/** What simulate says when a zone is lost. */
async function played(...args: readonly string[]) {
  return await playedBy(script, ...args);
}

async function playedBy(given: object, ...args: readonly string[]) {
  const files = [
    ...['-f', file('topology.yaml', topology)],
    ...['--script', file('outage.yaml', JSON.stringify(given))],
  ];
  return await run('simulate', ...files, ...args);
}

async function runsOf(...args: readonly string[]): Promise<readonly RunDocument[]> {
  const { code, out, err } = await played(...args, '-o', 'json');
  assert.equal(code, 0, err);
  return JSON.parse(out).runs;
}

describe('variants', () => {
  it('that are the same differ in nothing, and chance is not spoken of', async () => {
    const same = ['--variant', 'A=unchanged', '--variant', 'B=unchanged', '--seeds', '2'];
    const { code, out, err } = await played(...same);
    assert.equal(code, 0, err);
    assert.match(out, /^[ ]+B /m);
    assert.doesNotMatch(out, /~|chance/);
  });

  it('are played beside each other, each in force before all others', async () => {
    mkdirSync(path('kept'), { recursive: true });
    file('kept/keep.json', JSON.stringify(policy('zones', { match: unreachable, action: 'Keep' })));
    const usual = file('usual.json', JSON.stringify(policy('zones', { action: 'Delete' })));
    const runs = await runsOf(
      ...['--policy', usual, '--variant', 'now=unchanged', '--variant', `B=${path('kept')}`],
      ...['--variant', 'kcm=kube-controller-manager'],
    );
    assert.deepEqual(
      runs.map(({ name, semantics, summary }) => [name, semantics, summary.evictions]),
      [
        ['now', 'taintmgr', 2],
        ['B', 'taintmgr', 0],
        ['kcm', 'kube-controller-manager', 2],
      ],
    );
    assert.deepEqual(
      runs.map(({ differences }) => differences?.evictions ?? null),
      [null, -2, 0],
    );
  });

  it('follow the rules of the script, unless they are those of kube-controller-manager', async () => {
    const keep = file(
      'k.json',
      JSON.stringify(policy('k', { match: unreachable, action: 'Keep' })),
    );
    for (const semantics of ['taintmgr', 'kube-controller-manager']) {
      const { out } = await playedBy(
        { ...script, engine: { semantics } },
        ...['--variant', 'A=unchanged', '--variant', `B=${keep}`, '-o', 'json'],
        ...['--variant', 'kcm=kube-controller-manager'],
      );
      const runs: readonly RunDocument[] = JSON.parse(out).runs;
      assert.deepEqual(
        runs.map((one) => one.semantics),
        [semantics, semantics, 'kube-controller-manager'],
      );
    }
  });

  it('that are the same have the same history', async () => {
    const [one, two] = await runsOf('--variant', 'A=unchanged', '--variant', 'B=unchanged');
    assert.deepEqual(
      { ...one, name: '', differences: null },
      { ...two, name: '', differences: null },
    );
    const [alone] = await runsOf();
    assert.deepEqual({ ...one, name: '' }, { ...alone, name: '' });
  });

  it('decide the exit code', async () => {
    const keep = file(
      'b.json',
      JSON.stringify(policy('b', { match: unreachable, action: 'Keep' })),
    );
    const variants = ['--variant', 'A=unchanged', '--variant', `B=${keep}`];
    // Down as long as the machine is, and until its pods have started again.
    const worse = 'downtime(shop/web, B) > downtime(shop/web, A)';
    const crossed = await played(...variants, '--fail-if', worse, '-o', 'name');
    assert.equal(crossed.code, 2);
    assert.match(
      crossed.err,
      /^limit crossed: downtime\(.*\): shop\/web had 15m1s in B, shop\/web had 5m\d+s in A$/m,
    );
    const better = 'downtime(shop/web, A) > downtime(shop/web, B)';
    assert.equal((await played(...variants, '--fail-if', better)).code, 0);
  });

  const wrong: readonly (readonly [flags: readonly string[], err: RegExp])[] = [
    [['--variant', 'A'], /argument 'A' is invalid\. Want NAME=FILE or NAME=DIRECTORY/],
    [['--variant', '1 2=x'], /argument '1 2=x' is invalid/],
    [['--variant', 'A=unchanged', '--variant', 'A=unchanged'], /There is a variant A already\./],
    [
      ['--compare', '--variant', 'A=unchanged'],
      /'--variant <name=path>' cannot be used with option '--compare'/,
    ],
    [
      ['--variant', 'A=nowhere'],
      /^error: --variant A=nowhere: no such file; want a file, a directory, unchanged or kube-controller-manager$/m,
    ],
  ];
  for (const [flags, err] of wrong) {
    it(`refuses ${flags.join(' ')}`, async () => {
      const result = await played(...flags);
      assert.equal(result.code, 1);
      assert.match(result.err, err);
    });
  }
});
