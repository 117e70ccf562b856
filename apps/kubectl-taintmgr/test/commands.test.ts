import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { node } from '@taintmgr/sim-cluster';
import { version } from '../src/cli/version.ts';
import { wholeProgram } from '../src/program.ts';
import { run, runAt, start } from './world/run.ts';
import { startTestCluster, type TestCluster, versions } from './world/test-cluster.ts';

// A wrong command line or configuration: one clear line, exit code 1, and nothing is changed.

const effects =
  'NoSchedule, NoExecute where no other controller evicts for it, or no effect for the one that is safe here';
const drainHelp = 'See kubectl taintmgr drain-by-taint --help.';

const execConfig = `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, interactiveMode: Never}}
`;

let cluster: TestCluster;
let unchanged: readonly string[];
before(async () => {
  cluster = await startTestCluster(null, {
    limited: [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }],
  });
  cluster.api.create('nodes', node('n1'));
  process.env.KUBECONFIG = cluster.kubeconfig;
  unchanged = versions(cluster.api);
  writeFileSync(join(cluster.directory, 'broken'), 'clusters: [');
  writeFileSync(join(cluster.directory, 'text'), 'hello');
  writeFileSync(join(cluster.directory, 'exec'), execConfig);
});
after(() => cluster.stop());

const missingNode =
  'Error from server (NotFound): nodes "nope" not found\nhint: which pods left it, if it is gone: kubectl taintmgr history node nope';

describe('wrong command lines', () => {
  const cases: readonly (readonly [line: string, err: string])[] = [
    ['bogus', "error: unknown command 'bogus'\nSee kubectl taintmgr --help for the commands."],
    [
      'explain presure x',
      'error: there is no kind "presure"; want explain KIND NAME: node, pod, zone, taint, deployment, statefulset, daemonset, replicaset, job, pdb, namespace, device, devicetaintrule, policy, pressure, did you mean pressure?',
    ],
    [
      'explain zone',
      "error: missing required argument 'name'\nSee kubectl taintmgr explain zone --help.",
    ],
    [
      'explain zone z1 z2',
      "error: too many arguments for 'zone'. Expected 1 argument but got 2: z1, z2.\n" +
        'See kubectl taintmgr explain zone --help.',
    ],
    [
      'simulate -f nodes.json pods.json',
      'error: each file needs its own -f; did you mean: kubectl taintmgr simulate -f pods.json -f nodes.json',
    ],
    ['drain-by-taint', 'error: name a taint, such as maintenance=kernel, or give --filename'],
    [
      'drain-by-taint -f drain.yaml n1',
      'error: --filename and the argument n1 exclude each other: the file says it',
    ],
    [
      'drain-by-taint -f drain.yaml --max-parallel-nodes=1',
      'error: --filename and --max-parallel-nodes exclude each other: the file says it, in spec.limits.nodesAtOnce',
    ],
    ['drain-by-taint -f /nope.yaml', 'error: --filename /nope.yaml: no such file'],
    [
      'drain-by-taint a:NoExecute n1 --max-unavailable=1 --pod-selector=app=web',
      'error: --pod-selector and --max-unavailable exclude each other: it counts all pods of a workload',
    ],
    [
      'drain-by-taint a:NoExecute n1 --restart-single-replicas --pod-selector=app=web',
      'error: --pod-selector and --restart-single-replicas exclude each other: it counts all pods of a workload',
    ],
    ['drain-by-taint a:NoExecute n1 --detach', 'error: --detach is only there with --server-side'],
    [
      'drain-by-taint a:NoExecute n1 --server-side --once',
      'error: --once and --server-side exclude each other: --timeout limits how long a node may take',
    ],
    [
      'drain-by-taint a:NoExecute n1 --server-side --ignore-policies',
      'error: --ignore-policies and --server-side exclude each other: a NodeDrain follows the policies of the cluster',
    ],
    [
      'drain-by-taint a:NoExecute n1 --heed=cni',
      "error: option '--heed <annotation>' argument 'cni' is invalid. " +
        `Want cluster-autoscaler.kubernetes.io/safe-to-evict or karpenter.sh/do-not-disrupt.\n${drainHelp}`,
    ],
    [
      'drain-by-taint a:NoExecute n1 --last-pods=app=web',
      'error: --last-pods: got "app=web", want NAMESPACE, NAMESPACE/SELECTOR such as logging/app=shipper, or /SELECTOR',
    ],
    [
      'drain-by-taint a:NoExecute n1 --tiemout 5s',
      'error: unknown flag --tiemout; did you mean: kubectl taintmgr drain-by-taint a:NoExecute n1 --timeout 5s',
    ],
    [
      'drain-by-taint a:NoExecute n1 --dry-run=maybe',
      'error: Invalid dry-run value (maybe). Must be "none", "server", or "client".',
    ],
    [
      'drain-by-taint a:NoExecute n1 --timeout=5x',
      "error: option '--timeout <duration>' argument '5x' is invalid. " +
        `Want a duration such as 30s, 10m or 1h30m.\n${drainHelp}`,
    ],
    [
      'drain-by-taint a:NoExecute n1 --timeout=-5s',
      "error: option '--timeout <duration>' argument '-5s' is invalid. " +
        `The drain would end before it begins; 0: it never gives up.\n${drainHelp}`,
    ],
    [
      'drain-by-taint a:NoExecute nope --chunk-size=-1 --skip-wait-for-delete-timeout=-3',
      missingNode,
    ],
    [
      'drain-by-taint a:NoExecute nope --dry-run=true',
      'Warning: --dry-run=true is deprecated (boolean value) and can be replaced with --dry-run=client.\n' +
        missingNode,
    ],
    [
      'undo drain-1 --dry-run=False',
      'Warning: --dry-run=False is deprecated (boolean value) and can be replaced with --dry-run=none.\n' +
        'error: no drain "drain-1" found; there are no drains to undo',
    ],
    [
      'drain-by-taint a:NoExecute n1 --grace-period=soon',
      "error: option '--grace-period <seconds>' argument 'soon' is invalid. " +
        `Want a whole number.\n${drainHelp}`,
    ],
    [
      'drain-by-taint a=b=c n1',
      'error: invalid taint "a=b=c": want key=value:effect or key:effect',
    ],
    [
      'drain-by-taint n1 n1',
      'error: n1 is a node, and no taint precedes it; nothing was changed; did you mean: kubectl taintmgr drain-by-taint maintenance=kernel n1',
    ],
    [
      'drain-by-taint a=:b:NoExecute n1',
      'error: invalid taint "a=:b:NoExecute": want key=value:effect or key:effect',
    ],
    ['drain-by-taint -x=y:NoExecute n1', `error: unknown option '-x=y:NoExecute'\n${drainHelp}`],
    [
      'drain-by-taint a=ä:NoExecute n1',
      'error: invalid taint "a=ä:NoExecute": value "ä": want 1 to 63 of letters, digits, ' +
        "'-', '_' and '.', beginning and ending alphanumeric",
    ],
    [
      'drain-by-taint a:PreferNoSchedule n1',
      `error: invalid taint "a:PreferNoSchedule": effect "PreferNoSchedule": want ${effects}`,
    ],
    ['drain-by-taint a:Gone n1', `error: invalid taint "a:Gone": effect "Gone": want ${effects}`],
    [
      'drain-by-taint a:NoExecute n1 --pdb-policy=never',
      'error: --pdb-policy: got "never", want respect, delete-after:DURATION such as delete-after:1h, or ignore',
    ],
    [
      'drain-by-taint a:NoExecute n1 --disable-eviction --pdb-policy=respect',
      'error: --disable-eviction and --pdb-policy=respect exclude each other; give one of them',
    ],
    [
      'drain-by-taint a:NoExecute n1 --once --pdb-policy=delete-after:1h',
      'error: --once and --pdb-policy=delete-after exclude each other: one try is all',
    ],
    [
      'drain-by-taint a:NoExecute n1 --max-parallel-nodes=-1',
      "error: option '--max-parallel-nodes <number>' argument '-1' is invalid. " +
        `Want a whole number from 0, or a part such as 25%.\n${drainHelp}`,
    ],
    ['undo drain-1', 'error: no drain "drain-1" found; there are no drains to undo'],
    ['undo drain-1 nope', missingNode],
    [
      'undo drain-1 --dry-run=server',
      'error: Invalid dry-run value (server). Must be "none", or "client".',
    ],
    ['drain-by-taint a:NoExecute', 'error: name the nodes to drain, or give --selector'],
    [
      'drain-by-taint a:NoExecute n1 -l pool=blue',
      'error: cannot specify both a node name and a --selector option',
    ],
    ['drain-by-taint a:NoExecute n1 nope', missingNode],
    [
      'drain-by-taint a:NoExecute -l pool=,=',
      'error: --selector: got "pool=,=", want a label selector such as pool=blue,tier!=db ' +
        "(found '=', expected: identifier after ',')",
    ],
    [
      'drain-by-taint a:NoExecute n1 --pod-selector=!!',
      'error: --pod-selector: got "!!", want a label selector such as pool=blue,tier!=db ' +
        "(unable to parse requirement: found '!', expected: identifier)",
    ],
    ['explain node nope', missingNode],
    [
      'pending -l pool=,=',
      'error: --selector: got "pool=,=", want a label selector such as pool=blue,tier!=db ' +
        "(found '=', expected: identifier after ',')",
    ],
    [
      'drain-by-taint a:NoExecute -l pool=none --pod-selector=!!',
      'error: --pod-selector: got "!!", want a label selector such as pool=blue,tier!=db ' +
        "(unable to parse requirement: found '!', expected: identifier)",
    ],
    ['help bogus', 'error: unknown help topic "bogus"; kubectl taintmgr --help lists the commands'],
    [
      'help explain bogus',
      'error: unknown help topic "explain bogus"; kubectl taintmgr explain --help lists the commands',
    ],
  ];
  for (const [line, err] of cases) {
    it(line, async () => {
      const result = await run(...line.split(' '));
      assert.deepEqual(result, { code: 1, out: '', err: `${err}\n` });
      assert.deepEqual(versions(cluster.api), unchanged);
    });
  }

  it('no node matches the selector', async () => {
    const args = ['drain-by-taint', 'a:NoExecute', '-l', 'pool=none'];
    const err = 'No nodes match --selector "pool=none"; nothing was changed\n';
    assert.deepEqual(await run(...args), { code: 0, out: '', err });
  });
});

describe('clusters that cannot be reached', () => {
  const cases: readonly (readonly [name: string, flags: () => string[], err: RegExp])[] = [
    ['no such file', () => ['--kubeconfig=/nope'], /^error: .*\/nope: no such file.*\n$/],
    [
      'not YAML',
      () => [`--kubeconfig=${cluster.directory}/broken`],
      /^error: .*\/broken: not valid YAML at line 1, column 12: .*\n$/,
    ],
    [
      'not a kubeconfig',
      () => [`--kubeconfig=${cluster.directory}/text`],
      /^error: .*\/text: want a kubeconfig, got plain text\n$/,
    ],
    [
      'unknown context',
      () => ['--context=nope'],
      /^error: context "nope" does not exist in .*; it knows: taintmgr-sim\n$/,
    ],
    [
      'unknown user',
      () => ['--user=nope'],
      /^error: user "nope" does not exist in .*; it knows: taintmgr-sim\n$/,
    ],
    ['not a URL', () => ['--server=foo'], /^error: --server: got "foo", want a URL such as .*\n$/],
    [
      'not a duration',
      () => ['--request-timeout=x'],
      /^error: --request-timeout: got "x", want a duration such as 10s or 1m30s\n$/,
    ],
    [
      'nobody listens',
      () => ['--server=https://127.0.0.1:1'],
      /^error: request to https:\/\/127\.0\.0\.1:1 failed: connect ECONNREFUSED 127\.0\.0\.1:1; check .*\n$/,
    ],
    [
      'a credential plugin that is missing',
      () => [`--kubeconfig=${cluster.directory}/exec`],
      /^error: cannot log in to https:\/\/127\.0\.0\.1:1: credential plugin no-such-plugin failed: .*; check the user that the current context names \(kubectl config view --minify\)\n$/,
    ],
    [
      'a token that is not known',
      () => ['--token=wrong'],
      /^Error from server \(Unauthorized\): Unauthorized\nhint: the credentials .*\n$/,
    ],
    [
      'rights missing',
      () => ['--token=limited'],
      /^Error from server \(Forbidden\): pods is forbidden: User "limited" cannot list resource "pods" .*\nhint: kubectl auth can-i --list .*\n$/,
    ],
  ];
  for (const [name, flags, expected] of cases) {
    it(name, async () => {
      for (const args of [
        ['explain', 'node', 'n1', ...flags()],
        [...flags(), 'explain', 'node', 'n1'],
      ]) {
        const { code, out, err } = await run(...args);
        assert.deepEqual([code, out], [1, '']);
        assert.match(err, expected);
      }
    });
  }

  it('Ctrl-C ends the wait for a server that does not answer', async (t) => {
    const mute = createServer((socket) => socket.on('error', () => {}));
    const connected = once(mute, 'connection');
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    t.after(() => mute.close());
    const { port } = mute.address() as { port: number };
    const server = `--server=https://127.0.0.1:${port}`;
    const { result, interrupt } = start(['explain', 'node', 'n1', server]);
    await connected;
    interrupt();
    assert.deepEqual(await result, { code: 130, out: '', err: 'error: interrupted\n' });
  });
});

describe('help', () => {
  const cases: readonly (readonly [line: string, expected: RegExp])[] = [
    ['--version', new RegExp(`^${version}\n$`)],
    [
      '--help',
      /^See, trust [\s\S]*\nExamples:\n[\s\S]*\nLook:\n {2}status [\s\S]*\nAct:\n {2}drain-by-taint [\s\S]*\nUsage:\n {2}kubectl taintmgr COMMAND \[options\]\n/,
    ],
    ['explain --help', /\nUsage:\n {2}kubectl taintmgr explain COMMAND /],
    [
      'options',
      /^Every command takes these flags:\n[\s\S]*--color [\s\S]*\n {6}--kubeconfig <file>/,
    ],
    [
      'explain node --help',
      /\nExamples:\n[\s\S]*\nOptions:\n {2}-w, --watch [\s\S]*\nkubectl taintmgr options lists the flags /,
    ],
    [
      'drain-by-taint --help',
      /\nAs kubectl drain:\n[\s\S]*--timeout[\s\S]*\nWhich pods leave, and when:\n[\s\S]*\nExit codes:\n/,
    ],
  ];
  for (const [line, expected] of cases) {
    it(line, async () => {
      const { code, out, err } = await run(...line.split(' '));
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, expected);
      for (const text of out.split('\n')) assert.doesNotMatch(text, /default: (true|false)|\s$/);
    });
  }

  for (const path of ['', 'explain', 'explain node', 'drain-by-taint', 'help']) {
    it(`help ${path} says what ${path} --help says`, async () => {
      const words = path.split(' ').filter((word) => word !== '');
      const flag = await run(...words, '--help');
      assert.deepEqual(await run('help', ...words), flag);
      assert.equal(flag.code, 0);
    });
  }

  for (const line of ['', 'explain', 'takeover --context=x', 'completion -n shop']) {
    it(`${line} alone is a question for help, as with kubectl`, async () => {
      const words = line.split(' ').filter((word) => word !== '');
      assert.deepEqual(await run(...words), await run(...words.slice(0, 1), '--help'));
    });
  }

  it('of every command begins with an example and fits the terminal', async () => {
    const { output } = start(['version', '--client']);
    for (const command of leavesOf(
      wholeProgram({ output, interrupt: new AbortController().signal }),
    )) {
      for (const width of [80, 100, 140]) {
        const { out } = await runAt(width, ...command, '--help');
        assert.match(out, /\n\nExamples:\n {2}\S/, command.join(' '));
        const wide = out.split('\n').filter((line) => line.length > Math.min(width, 100));
        assert.deepEqual(wide, []);
      }
    }
  });
});

/** The words of every command, groups included. */
function leavesOf(command: CommandUnknownOpts, above: readonly string[] = []): readonly string[][] {
  return [[...above], ...command.commands.flatMap((one) => leavesOf(one, [...above, one.name()]))];
}
