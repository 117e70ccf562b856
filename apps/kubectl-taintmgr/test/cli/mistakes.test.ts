import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { correctionOf } from '../../src/cli/mistakes.ts';
import { wholeProgram } from '../../src/program.ts';
import { CapturedOutput } from '../world/captured-output.ts';
import { run, runAt } from '../world/run.ts';

// Words that people type, and the command that they mean.

const program = wholeProgram({
  output: new CapturedOutput(),
  interrupt: new AbortController().signal,
});

/** Words are parted by `|` where one of them has a space. */
function wordsOf(line: string): readonly string[] {
  return line.split(line.includes('|') ? '|' : ' ');
}

describe('mistakes of order and form', () => {
  const cases: readonly (readonly [line: string, fault: string, meant: string])[] = [
    ['drain-by-taint n1', 'the taint is missing', 'drain-by-taint maintenance=kernel n1'],
    [
      'drain-by-taint n1 a=b --now',
      'the taint comes before the nodes',
      'drain-by-taint a=b n1 --now',
    ],
    [
      'drain-by-taint n1 n2 a:NoExecute',
      'the taint comes before the nodes',
      'drain-by-taint a:NoExecute n1 n2',
    ],
    ['drain-by-taint|a = b|n1', 'a taint has no spaces', 'drain-by-taint a=b n1'],
    ['drain-by-taint a = b n1', 'a taint has no spaces', 'drain-by-taint a=b n1'],
    [
      'drain-by-taint a=b :NoSchedule n1',
      'a taint has no spaces',
      'drain-by-taint a=b:NoSchedule n1',
    ],
    [
      'drain-by-taint a=b:noschedule n1',
      'unknown effect in a=b:noschedule',
      'drain-by-taint a=b:NoSchedule n1',
    ],
    [
      'explain node n1 --with-taint a=b:no-execute',
      'unknown effect in a=b:no-execute',
      'explain node n1 --with-taint a=b:NoExecute',
    ],
    [
      'explain|node|n1|--with-taint=a = b',
      'a taint has no spaces',
      'explain node n1 --with-taint=a=b',
    ],
    ['drain n1 --force', 'unknown command "drain"', 'drain-by-taint maintenance=kernel n1 --force'],
    ['drain a=b n1', 'unknown command "drain"', 'drain-by-taint a=b n1'],
    ['cordon n1', 'unknown command "cordon"', 'drain-by-taint maintenance=kernel n1'],
    ['uncordon n1', 'unknown command "uncordon"', 'undo'],
    [
      'taint nodes n1 a=b:NoExecute',
      'unknown command "taint"',
      'explain node n1 --with-taint a=b:NoExecute',
    ],
    ['node n1 -w', 'unknown command "node"', 'explain node n1 -w'],
    ['deploy/web -n shop', 'unknown command "deploy/web"', 'explain deploy/web -n shop'],
    ['why n1', 'unknown command "why"', 'explain n1'],
    ['get pods -A', 'unknown command "get"', 'pending -A'],
    ['-n shop unpause pause/x', 'unknown command "unpause"', '-n shop resume pause/x'],
    ['explian node n1', 'unknown command "explian"', 'explain node n1'],
    ['statsu', 'unknown command "statsu"', 'status'],
    ['pending --all', 'unknown flag --all', 'pending --all-namespaces'],
    ['pending -all-namespaces', 'unknown flag -all-namespaces', 'pending --all-namespaces'],
    [
      'drain-by-taint a=b n1 --tiemout=5s',
      'unknown flag --tiemout=5s',
      'drain-by-taint a=b n1 --timeout=5s',
    ],
    ['simulate --reprot x.html', 'unknown flag --reprot', 'simulate --report x.html'],
    ['pending shop -o json', 'pending takes no argument', 'pending -n shop -o json'],
    ['history web-0', '"web-0" is no kind', 'history pod web-0'],
    ['history 2h', 'a time is a flag', 'history --since 2h'],
    ['pause --for 2h', 'a pause needs a name', 'pause maintenance --for 2h'],
    ['takeover shop --yes', 'unknown command "takeover shop"', 'takeover enable shop --yes'],
    ['takeover enabel shop', 'unknown command "takeover enabel"', 'takeover enable shop'],
    ['install crd', 'unknown command "install crd"', 'install crds'],
    ['completion bash', 'unknown command "completion bash"', 'completion install'],
    ['simulate zones', 'simulate takes no argument', 'simulate --each zone'],
    ['simulate outage.yaml', 'simulate takes no argument', 'simulate --script outage.yaml'],
    ['simulate dump.json', 'simulate takes no argument', 'simulate -f dump.json'],
    ['simulate -f a.json b.json', 'each file needs its own -f', 'simulate -f b.json -f a.json'],
    [
      'simulate -f a.json b.json c.json',
      'each file needs its own -f',
      'simulate -f b.json -f c.json -f a.json',
    ],
    ['doctor a.yaml b.yaml', 'doctor takes no argument', 'doctor -f a.yaml -f b.yaml'],
    ['web 8080', 'web takes no argument', 'web --port 8080'],
    ['snapshot x.json', 'snapshot writes to standard output, add > x.json', 'snapshot'],
    ['--token s3cret statsu', 'unknown command "statsu"', '--token ... status'],
    ['--token=s3cret statsu', 'unknown command "statsu"', '--token=... status'],
  ];
  for (const [line, fault, meant] of cases) {
    it(line, () => {
      const expected = `${fault}; did you mean: kubectl taintmgr ${meant}`;
      assert.equal(correctionOf(wordsOf(line), program), expected);
    });
  }

  for (const line of [
    '',
    'bogus',
    'explain n1',
    'explain a=b',
    'explain node n1 --with-taint a=b',
    'drain-by-taint a n1 n2',
    'drain-by-taint a -l pool=blue',
    'drain-by-taint -f drain.yaml',
    'drain-by-taint a=b n1 -l pool=blue',
    'pause x',
    'pending --bogus',
    'undo a=b n1',
    'drain-by-taint -- n1',
  ]) {
    it(`finds none in ${JSON.stringify(line)}`, () => {
      assert.equal(correctionOf(wordsOf(line), program), null);
    });
  }
});

describe('the answer to a mistake', () => {
  it('is one line, and the exit code 1', async () => {
    const err = 'error: unknown command "statsu"; did you mean: kubectl taintmgr status\n';
    assert.deepEqual(await run('statsu'), { code: 1, out: '', err });
    assert.equal((await run('explian', 'node', 'n1', '--exit-code')).code, 2);
  });

  it('leaves the command whole on a terminal', async () => {
    const { err } = await runAt(40, 'drain', 'node-1', '--ignore-daemonsets', '--dry-run=client');
    assert.deepEqual(err.split('\n').slice(-2), [
      '    kubectl taintmgr drain-by-taint maintenance=kernel node-1 --ignore-daemonsets --dry-run=client',
      '',
    ]);
  });

  it('understands a taint without a kind', async () => {
    const { err } = await run('explain', 'a=b', '--kubeconfig=/nope');
    assert.match(err, /nope/);
  });
});
