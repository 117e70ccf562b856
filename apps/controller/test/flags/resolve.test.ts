import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { CommanderError } from '@commander-js/extra-typings';
import { checkChoices } from '../../src/flags/checks.ts';
import { SettingError } from '../../src/flags/kind.ts';
import { type Choices, type Environment, resolveChoices } from '../../src/flags/resolve.ts';
import { type Setting, settings, variableOf } from '../../src/flags/settings.ts';
import { version } from '../../src/version.ts';

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-settings-'));
after(() => rmSync(folder, { recursive: true }));

/** A file that can be read. */
const there = process.execPath;
const file = join(folder, 'config.yaml');
const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' };
const all: readonly (readonly [name: string, setting: Setting<unknown>])[] =
  Object.entries(settings);

function words(line: string): readonly string[] {
  return line === '' ? [] : line.split(' ');
}

function choose(line: string, environment: Environment = {}, content?: object): Choices {
  if (content) writeFileSync(file, JSON.stringify({ ...head, ...content }));
  return resolveChoices([...words(line), ...(content ? ['--config', file] : [])], environment);
}

/** The one line that refuses it. */
function refusal(line: string, environment: Environment = {}, content?: object): string {
  try {
    checkChoices(choose(line, environment, content));
  } catch (error) {
    assert.ok(error instanceof Error && !error.message.includes('\n'), String(error));
    return error.message.replace(file, 'FILE');
  }
  return assert.fail(`${line} was accepted`);
}

/** A value at a path of the file. */
function nested(path: string, value: unknown): object {
  return path
    .split('.')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

describe('settings', () => {
  it('have durations in whole milliseconds, whatever fractions they are written with', () => {
    const durations: readonly (readonly [text: string, millis: number])[] = [
      ['0.5ms', 1],
      ['1.001s', 1001],
      ['0.4ms', 0],
    ];
    for (const [text, millis] of durations) {
      assert.equal(choose(`--delete-after=${text}`).settings.deleteAfter, millis);
      const fromFile = choose('', {}, { eviction: { deleteAfter: text } });
      assert.equal(fromFile.settings.deleteAfter, millis);
    }
  });

  it('have defaults', () => {
    const { settings: chosen, origins, ...others } = choose('');
    for (const [name, { initial }] of all) assert.deepEqual(Reflect.get(chosen, name), initial);
    assert.deepEqual([...new Set(Object.values(origins))], ['default']);
    const none = {
      connection: {},
      policies: {},
      lifecycle: {},
      pressurePools: [],
      policyObjects: [],
      filePolicies: [],
    };
    assert.deepEqual(others, { ...none, ownPod: null, unknownVariables: [], hints: [] });
  });

  const good: readonly (readonly [line: string, values: object])[] = [
    ['--simulate --seed=7', { simulate: true, seed: 7 }],
    ['--leader-elect=false --dry-run', { leaderElect: false, dryRun: 'server' }],
    ['--dry-run=client', { dryRun: 'client' }],
    ['--dry-run=False', { dryRun: 'none' }],
    [
      '--mode=evict --concurrent-evictions 5 --semantics kube-controller-manager',
      { mode: 'evict', concurrentEvictions: 5, semantics: 'upstream-1.36' },
    ],
    ['--mode=evict-then-delete --delete-after=5m', { mode: 'evict-then-delete' }],
    ['--semantics=taintmgr', { semantics: 'precise' }],
    ['--semantics=kube-controller-manager-1.36', { semantics: 'upstream-1.36' }],
    ['--logging-format=json -v 4', { loggingFormat: 'json', verbosity: 4 }],
    ['-v=4', { verbosity: 4 }],
    ['--v=2', { verbosity: 2 }],
    ['--v=2 --v=3', { verbosity: 3 }],
    ['--controllers=*,-nodelifecycle', { controllers: ['*', '-nodelifecycle'] }],
    ['--controllers=* --controllers=-foo', { controllers: ['*', '-foo'] }],
    ['--node-monitor-grace-period=1m40s', { nodeMonitorGracePeriod: 100_000 }],
    ['--kube-api-qps=0.5 --kube-api-burst=3', { kubeApiQps: 0.5, kubeApiBurst: 3 }],
    ['--kube-api-content-type=application/json', { kubeApiContentType: 'application/json' }],
    ['--authorization-always-allow-paths=', { alwaysAllowPaths: [] }],
    [
      '--authorization-always-allow-paths=/livez --authorization-always-allow-paths=/readyz',
      { alwaysAllowPaths: ['/livez', '/readyz'] },
    ],
    ['--leader-elect=False --takeover=TRUE', { leaderElect: false, takeover: true }],
    ['--leader-elect=0 --takeover=1', { leaderElect: false, takeover: true }],
  ];
  for (const [line, values] of good) {
    it(`take ${line}`, () => {
      const { settings: chosen, origins } = choose(line);
      for (const [name, value] of Object.entries(values)) {
        assert.deepEqual(Reflect.get(chosen, name), value);
        assert.equal(Reflect.get(origins, name), 'flag');
      }
    });
  }

  it('take the flags of the connection, from the environment too', () => {
    const line = `--kubeconfig ${there} --context c -n ns -s https://h --as-group a --as-group b`;
    const environment = { TAINTMGR_CONTEXT: 'd', TAINTMGR_INSECURE_SKIP_TLS_VERIFY: 'true' };
    assert.deepEqual(choose(line, environment).connection, {
      kubeconfig: there,
      context: 'c',
      namespace: 'ns',
      server: 'https://h',
      asGroup: ['a', 'b'],
      insecureSkipTlsVerify: true,
    });
  });

  for (const [name, { flag, field, kind, initial }] of all) {
    if (field === null) continue;
    it(`--${flag} goes before ${variableOf(flag)}, that before ${field}`, () => {
      const text = kind.format(initial);
      const value = typeof initial === 'object' && name === 'featureGates' ? {} : initial;
      const content = nested(field, flag.endsWith('ttl') || isDuration(text) ? text : value);
      const environment = { [variableOf(flag)]: text };
      const flags = `--${flag}=${text}`;
      const originOf = (choices: Choices): unknown => Reflect.get(choices.origins, name);
      assert.equal(originOf(choose(flags, environment, content)), 'flag');
      assert.equal(originOf(choose('', environment, content)), 'environment');
      const fromFile = choose('', {}, content);
      assert.equal(originOf(fromFile), 'file');
      assert.deepEqual(Reflect.get(fromFile.settings, name), initial);
    });
  }

  it('take earlier spellings, and say how they are spelled', () => {
    const line = '--mode=evictThenDelete --node-pressure-semantics=precise';
    const environment = { TAINTMGR_SEMANTICS: 'upstream-1.36', TAINTMGR_LOGGING_FORMAT: 'JSON' };
    const content = { nodeLifecycle: { podReadiness: 'atOnce', fullDisruption: 'hold' } };
    const { settings: chosen, lifecycle, hints } = choose(line, environment, content);
    assert.deepEqual(
      [chosen.mode, chosen.nodePressureSemantics, chosen.semantics, chosen.loggingFormat],
      ['evict-then-delete', 'precise', 'upstream-1.36', 'json'],
    );
    assert.equal(lifecycle.podReadiness, 'at-once');
    assert.deepEqual(
      hints.map((hint) => hint.replace(file, 'FILE')),
      [
        '--config FILE: nodeLifecycle.podReadiness: write at-once instead of atOnce',
        'TAINTMGR_LOGGING_FORMAT: write json instead of JSON',
        '--mode: write evict-then-delete instead of evictThenDelete',
        'TAINTMGR_SEMANTICS: write kube-controller-manager instead of upstream-1.36',
        '--node-pressure-semantics: write taintmgr instead of precise',
      ],
    );
  });

  it('take the earlier name of an action in a file of --policy', () => {
    const policy = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
    writeFileSync(
      file,
      JSON.stringify({ ...policy, metadata: { name: 'old' }, spec: { action: 'Upstream' } }),
    );
    const { policyObjects, hints } = choose(`--policy=${file}`);
    assert.deepEqual(
      policyObjects.map(({ value }) => Reflect.get(value, 'action')),
      ['KubeControllerManager'],
    );
    assert.deepEqual(hints, [
      '--policy: EvictionPolicy "old": spec.action: write KubeControllerManager instead of Upstream',
    ]);
  });

  it('take them of the file too', () => {
    const eviction = { mode: 'EvictThenDelete', semantics: 'precise' };
    const { settings: chosen, hints } = choose('', {}, { eviction });
    assert.deepEqual([chosen.mode, chosen.semantics], ['evict-then-delete', 'precise']);
    assert.deepEqual(
      hints.map((hint) => hint.replace(file, 'FILE')),
      [
        '--config FILE: eviction.semantics: write taintmgr instead of precise',
        '--config FILE: eviction.mode: write evict-then-delete instead of EvictThenDelete',
      ],
    );
  });

  it('of the environment that no flag has are named, what Kubernetes sets is not', () => {
    const environment = {
      TAINTMGR_MOED: 'evict',
      TAINTMGR_SERVICE_HOST: '10.0.0.1',
      TAINTMGR_PORT: 'tcp://10.0.0.1:443',
      TAINTMGR_PORT_443_TCP_ADDR: '10.0.0.1',
      HOME: '/',
    };
    assert.deepEqual(choose('', environment).unknownVariables, ['TAINTMGR_MOED']);
  });
});

function isDuration(text: string): boolean {
  return /^\d+(m|s|ms)/.test(text);
}

describe('wrong values together', () => {
  const together: readonly (readonly [line: string, message: string])[] = [
    [
      '--leader-elect-renew-deadline=15s',
      '--leader-elect-renew-deadline: got "15s", want less than the lease duration of 15s',
    ],
    [
      '--leader-elect-retry-period=9s',
      '--leader-elect-retry-period: got "9s", want 1.2 times it below the 10s to renew',
    ],
    [
      '--leader-elect-renew-deadline=6s --leader-elect-retry-period=5s',
      '--leader-elect-retry-period: got "5s", want 1.2 times it below the 6s to renew',
    ],
    [
      '--pod-watch=tainted-nodes --semantics=kube-controller-manager',
      '--pod-watch: got "tainted-nodes", want all or auto beside --semantics=kube-controller-manager, ' +
        'which needs to know all pods',
    ],
    [`--tls-cert-file=${there}`, '--tls-private-key-file: got "", want the key of --tls-cert-file'],
    [
      `--tls-private-key-file=${there}`,
      '--tls-cert-file: got "", want the certificate of --tls-private-key-file',
    ],
    [
      `--simulate --kubeconfig=${there}`,
      '--simulate: got "true", want no connection flag with it: it starts a cluster of its own',
    ],
    [
      '--controllers=*,cronjob',
      '--controllers: got "*,cronjob", want "cronjob" left out: the known controllers are ' +
        'taint-eviction-controller, node-lifecycle-controller, node-drain-controller, node-pressure-controller, ' +
        'device-taint-eviction-controller',
    ],
    [
      '--controllers=-taint-eviction-controller',
      '--controllers: got "-taint-eviction-controller", want one that runs: the known controllers ' +
        'are taint-eviction-controller, node-lifecycle-controller, node-drain-controller, node-pressure-controller, ' +
        'device-taint-eviction-controller',
    ],
    [
      '--controllers=device-taint-eviction-controller',
      '--controllers: got "device-taint-eviction-controller", want taint-eviction-controller among ' +
        'them beside device-taint-eviction-controller',
    ],
    [
      '--controllers=*,device-taint-eviction-controller --semantics=kube-controller-manager',
      '--semantics: got "kube-controller-manager", want taintmgr beside --controllers=device-taint-eviction-controller',
    ],
    [
      '--controllers=*,device-taint-eviction-controller --pod-watch=tainted-nodes',
      '--pod-watch: got "tainted-nodes", want all or auto beside ' +
        '--controllers=device-taint-eviction-controller, which needs to know all pods',
    ],
    [
      '--feature-gates=Some=maybe',
      '--feature-gates: got "Some=maybe", want NAME=true or NAME=false',
    ],
    ['--seed=-1', '--seed: got "-1", want a whole number from 0'],
    ['--secure-port=70000', '--secure-port: got "70000", want a whole number from 0 to 65535'],
    ['--v=1.5', '--v: got "1.5", want a whole number from 0'],
    [
      '--unhealthy-zone-threshold=2',
      '--unhealthy-zone-threshold: got "2", want a number from 0 to 1',
    ],
  ];
  for (const [line, message] of together) {
    it(`${line}`, () => assert.equal(refusal(line), message));
  }

  it('of an election are no matter without one', () => {
    const line = '--leader-elect=false --leader-elect-renew-deadline=15s';
    assert.doesNotThrow(() => checkChoices(choose(line)));
  });

  it('that come from elsewhere are named there', () => {
    const environment = { TAINTMGR_LEADER_ELECT_RENEW_DEADLINE: '15s' };
    const want = ': got "15s", want less than the lease duration of 15s';
    assert.equal(refusal('', environment), `TAINTMGR_LEADER_ELECT_RENEW_DEADLINE${want}`);
    const inFile = refusal('', {}, nested('leaderElection.renewDeadline', '15s'));
    assert.equal(inFile, `--config FILE: leaderElection.renewDeadline${want}`);
  });

  it('are a kind of error of their own', () => {
    assert.throws(() => choose('--mode=drop'), SettingError);
  });
});

describe('which pods are read', () => {
  const cases: readonly (readonly [line: string, podWatch: string])[] = [
    ['', 'auto'],
    // Whom others evict as soon as its node is tainted, the shadow has to have seen before.
    ['--dry-run', 'all'],
    ['--dry-run=client', 'all'],
    ['--dry-run --pod-watch=tainted-nodes', 'tainted-nodes'],
    ['--pod-watch=tainted-nodes', 'tainted-nodes'],
    ['--semantics=kube-controller-manager', 'all'],
  ];
  for (const [line, podWatch] of cases) {
    it(`with ${line || 'no flag'}: ${podWatch}`, () => {
      assert.equal(checkChoices(choose(line)).podWatch, podWatch);
    });
  }
});

describe('a command line', () => {
  /** How one that names no work ends, and what is printed. */
  function end(...argv: readonly string[]): { code: number; out: string; err: string } {
    const printed = { out: '', err: '' };
    const terminal = {
      writeOut: (text: string): void => {
        printed.out += text;
      },
      writeErr: (text: string): void => {
        printed.err += text;
      },
    };
    try {
      resolveChoices(argv, {}, terminal);
    } catch (error) {
      assert.ok(error instanceof CommanderError);
      return { code: error.exitCode, ...printed };
    }
    return assert.fail(`${argv.join(' ')} was accepted`);
  }

  const bad: readonly (readonly [line: string, err: string])[] = [
    ['--kubeconfig', "option '--kubeconfig <file>' argument missing"],
    ['--moed evict', "unknown option '--moed'\n(Did you mean --mode?)"],
    ['node-1', 'too many arguments. Expected 0 arguments but got 1: node-1.'],
  ];
  for (const [line, err] of bad) {
    it(`that is wrong is told: ${line}`, () => {
      const help = 'See taintmgr-controller --help for the flags.';
      const printed = { code: 1, out: '', err: `error: ${err}\n${help}\n` };
      assert.deepEqual(end(...words(line)), printed);
    });
  }

  it('may ask for the version, and for help that names every group and default', () => {
    assert.deepEqual(end('--version'), { code: 0, out: `${version}\n`, err: '' });
    const { code, out, err } = end('--help');
    assert.deepEqual([code, err], [0, '']);
    for (const [, { flag }] of all) assert.match(out, new RegExp(`--${flag} [<[]`));
    assert.match(out, /--node-monitor-grace-period <duration> .*\n? *.*\(default\s+50s\)/);
    assert.match(
      out,
      /^Usage: taintmgr-controller \[options\]\n[\s\S]*\nConnection:\n[\s\S]*\nExamples:\n/,
    );
  });
});
