import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { quietCluster, serveApi } from '../../src/bench/served-api.ts';

const bench = fileURLToPath(new URL('../../src/bench/real.ts', import.meta.url));

function run(
  ...flags: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const words = ['-C', '@taintmgr/source', bench, '--pods', '40', '--only', 'bare request loop'];
  return promisify(execFile)(process.execPath, [...words, ...flags]).then(
    (done) => ({ code: 0, ...done }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('the bench of a real API server', () => {
  it('fills an empty cluster, has its pods evicted, and leaves nothing', async () => {
    const cluster = quietCluster();
    const { kubeconfig, close } = await serveApi(cluster.api);
    const { code, stdout, stderr } = await run('--kubeconfig', kubeconfig, '--rounds', '2');
    await close();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^bare request loop +\d+\/s +100% +\d/m);
    for (const kind of ['pods', 'nodes', 'events']) assert.equal(cluster.api.list(kind).length, 0);
    cluster.stop();
  });

  it('leaves nothing where a peer ends before it begins, and says so', async () => {
    const cluster = quietCluster();
    const { kubeconfig, close } = await serveApi(cluster.api);
    const peer = ['--only', 'p', '--peer', 'p=false', '--peer-says', 'ready'];
    const { code, stderr } = await run('--kubeconfig', kubeconfig, ...peer);
    await close();
    assert.equal(code, 2);
    assert.match(stderr, /^it ended too early, with code 1, and said:/);
    for (const kind of ['pods', 'nodes']) assert.equal(cluster.api.list(kind).length, 0);
    cluster.stop();
  });

  it('touches no cluster that has nodes', async () => {
    const cluster = quietCluster();
    cluster.api.create('nodes', { metadata: { name: 'a' } });
    const { kubeconfig, close } = await serveApi(cluster.api);
    const { code, stdout, stderr } = await run('--kubeconfig', kubeconfig);
    await close();
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^https:\S+ has nodes \(a, \.\.\.\): this bench wants an empty cluster/);
    assert.equal(cluster.api.list('nodes').length, 1);
    cluster.stop();
  });

  const wrong: readonly (readonly [flags: readonly string[], says: RegExp])[] = [
    [[], /^--kubeconfig: name the file of an empty cluster/],
    [['--kubeconfig', 'f', '--rounds', '0'], /^--rounds: got "0", want a whole number from 1$/m],
    [['--kubeconfig', 'f', '--peer', 'p=false'], /^--peer-says: name words/],
    [['--kubeconfig', 'f', '--only', 'x'], /^--only: no evictor is called "x"; there are: bare/],
  ];
  for (const [flags, says] of wrong) {
    it(`runs nothing with ${flags.join(' ') || 'no kubeconfig'}`, async () => {
      const { code, stderr } = await run(...flags);
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }
});
