import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { connectionFlags, loadKubeconfig } from '@taintmgr/k8s-adapter';
import schema from '../../config.schema.json' with { type: 'json' };
import { checkChoices } from '../../src/flags/checks.ts';
import { connectionFlagName } from '../../src/flags/command-line.ts';
import { type Environment, resolveChoices } from '../../src/flags/resolve.ts';
import { type Settings, settings, variableOf } from '../../src/flags/settings.ts';
import { errorLines } from '../../src/process/program.ts';
import { breakages, type Schema } from './schema-breakages.ts';

// Every flag, every variable and every field of the configuration file is given a value that it
// cannot have. What the user reads is one line with the place, the value and what is allowed.

const folder = mkdtempSync(join(tmpdir(), 'taintmgr-wrong-'));
after(() => rmSync(folder, { recursive: true }));

const file = join(folder, 'config.yaml');
const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'ControllerConfiguration' };

/** The line that is printed, with exit code 1, as main does it. */
function lineFor(argv: readonly string[], environment: Environment = {}): string {
  try {
    checkChoices(resolveChoices(argv, environment));
  } catch (error) {
    const lines = errorLines(error) ?? assert.fail(`a mistake of ours: ${error}`);
    assert.ok(!lines.includes('\n'), lines);
    return lines.replaceAll(file, 'FILE');
  }
  return assert.fail('was accepted');
}

function lineForFile(content: object): string {
  writeFileSync(file, JSON.stringify({ ...head, ...content }));
  return lineFor([`--config=${file}`]);
}

const missing = '/nowhere/file';
const [aFile, noDirectory] = ['a file that can be read', 'a file, not a directory'];
const aDuration = 'a duration from 1ms such as 30s, 10m or 1h30m';
const anyDuration = 'a duration such as 30s, 10m or 1h30m';
const aName = 'a name of lower case letters, digits, - and .';
const aBoolean = 'true or false';
const thresholds = 'thresholds as a kubelet takes them';
const known =
  'taint-eviction-controller, node-lifecycle-controller, node-drain-controller, node-pressure-controller, ' +
  'device-taint-eviction-controller';

/** A value that each setting cannot have, and what is said to be allowed. */
const wrong: Readonly<Record<keyof Settings, readonly [value: string, want: string]>> = {
  config: [missing, aFile],
  policy: [missing, 'files and directories that can be read, separated by commas'],
  clusterPolicies: ['maybe', aBoolean],
  controllers: ['cron', `"cron" left out: the known controllers are ${known}`],
  featureGates: ['Some=maybe', 'NAME=true or NAME=false'],
  dryRun: ['maybe', 'none, client or server'],
  allowOverlap: ['maybe', aBoolean],
  kubeControllerManagerRuns: [
    'nothing',
    'unknown, none, or of taint-eviction-controller, node-lifecycle-controller, ' +
      'device-taint-eviction-controller those that it runs',
  ],
  publishStatus: ['perhaps', aBoolean],
  takeover: ['maybe', aBoolean],
  loggingFormat: ['xml', 'text or json'],
  verbosity: ['high', 'a whole number from 0'],
  simulate: ['maybe', aBoolean],
  seed: ['-1', 'a whole number from 0'],
  otlpEndpoint: [
    'collector:4318',
    'an http or https address without credentials, such as http://host:8081',
  ],
  checkUrl: ['host:8081', 'an http or https address without credentials, such as http://host:8081'],
  mode: ['drop', 'delete or evict or evict-then-delete'],
  semantics: ['upstream', 'taintmgr or kube-controller-manager or kube-controller-manager-1.36'],
  concurrentEvictions: ['0', 'a whole number from 1'],
  podWatch: ['some', 'auto or all or tainted-nodes'],
  nodeMonitorPeriod: ['0', aDuration],
  nodeMonitorGracePeriod: ['soon', aDuration],
  nodeStartupGracePeriod: ['-1s', aDuration],
  nodeEvictionRate: ['-0.1', 'a number from 0'],
  secondaryNodeEvictionRate: ['slow', 'a number from 0'],
  largeClusterSizeThreshold: ['1.5', 'a whole number from 0'],
  unhealthyZoneThreshold: ['55', 'a number from 0 to 1'],
  evictionHard: ['memory.avail<1Gi', thresholds],
  evictionSoft: ['memory.available<1Gi', thresholds],
  evictionSoftGracePeriod: ['memory.available=soon', thresholds],
  evictionMinimumReclaim: ['memory.available=much', thresholds],
  evictionPressureTransitionPeriod: ['soon', anyDuration],
  evictionMaxPodGracePeriod: ['-2', 'a whole number from -1'],
  nodePressureMode: ['drop', 'evict or delete'],
  nodePressureSemantics: ['kubelet', 'taintmgr or kubelet-1.36 or kubelet-1.6'],
  nodePressureEvictionRate: ['0', 'a number from 0.001'],
  summaryPeriod: ['1ms', 'a duration from 1s such as 30s, 10m or 1h30m'],
  summaryRate: ['0', 'a number from 0.1'],
  leaderElect: ['maybe', aBoolean],
  leaseDuration: ['1ms', 'a duration from 1s such as 30s, 10m or 1h30m'],
  renewDeadline: ['15s', 'less than the lease duration of 15s'],
  retryPeriod: ['9s', '1.2 times it below the 10s to renew'],
  resourceLock: ['endpoints', 'leases'],
  resourceName: ['My Lease', aName],
  resourceNamespace: ['', aName],
  kubeApiQps: ['many', 'a number from 0'],
  kubeApiBurst: ['0', 'a whole number from 1'],
  kubeApiContentType: [
    'application/yaml',
    'application/json or application/vnd.kubernetes.protobuf',
  ],
  flightRecord: [tmpdir(), noDirectory],
  flightRecordMaxsize: ['0', 'a whole number from 1'],
  flightRecordMaxbackup: ['-1', 'a whole number from 0'],
  bindAddress: ['localhost', 'an IP address, 0.0.0.0 or :: for all'],
  securePort: ['65536', 'a whole number from 0 to 65535'],
  healthzBindAddress: ['eth0', 'an IP address, 0.0.0.0 or :: for all'],
  deleteAfter: ['soon', 'a duration such as 30s, 10m or 1h30m, or never'],
  summarySource: ['node', 'proxy or kubelet'],
  summaryServiceAccount: ['reader', 'NAMESPACE/NAME'],
  healthzPort: ['-1', 'a whole number from 0 to 65535'],
  tlsCertFile: [missing, aFile],
  tlsPrivateKeyFile: [missing, aFile],
  tlsMinVersion: ['VersionTLS10', 'VersionTLS12 or VersionTLS13'],
  authenticationKubeconfig: [missing, aFile],
  tokenCacheTtl: ['-1s', anyDuration],
  clientCaFile: [missing, aFile],
  kubeletCertificateAuthority: [missing, aFile],
  authorizationKubeconfig: [missing, aFile],
  alwaysAllowPaths: ['metrics', 'paths that begin with /, separated by commas'],
  allowedTtl: ['soon', anyDuration],
  deniedTtl: ['soon', anyDuration],
};

describe('a wrong value', () => {
  for (const [name, { flag, field }] of Object.entries(settings)) {
    const [value, want] = wrong[name as keyof Settings];
    const says = (line: string, where: string): void => {
      // A kubelet's words about a threshold name the value.
      const got = want === thresholds ? `got "` : `got ${JSON.stringify(value)}, `;
      assert.ok(line.startsWith(`error: ${where}: ${got}`), line);
      assert.ok(line.endsWith(`want ${want}`), line);
    };

    it(`of --${flag}`, () => says(lineFor([`--${flag}=${value}`]), `--${flag}`));

    it(`of ${variableOf(flag)}`, () => {
      says(lineFor([], { [variableOf(flag)]: value }), variableOf(flag));
    });

    if (field === null || want === aBoolean) continue;
    it(`of ${field}`, () => {
      // The schema has words of its own for what it refuses; the rest comes as from a flag.
      const line = lineForFile(nested(field, inFile(name, value)));
      assert.ok(line.startsWith(`error: --config FILE: ${field}`), line);
      assert.match(line, /: got .*, (want|which must) /);
    });
  }

  const connection: readonly (readonly [flag: string, value: string, want: string])[] = [
    ['kubeconfig', missing, aFile],
    ['server', 'nonsense', 'a URL such as https://10.0.0.1:6443'],
    ['certificate-authority', missing, aFile],
    ['client-certificate', missing, aFile],
    ['client-key', missing, aFile],
    ['client-key', tmpdir(), aFile],
    ['insecure-skip-tls-verify', 'maybe', aBoolean],
    ['request-timeout', 'soon', 'a duration such as 10s or 1m30s, or 0 for none'],
  ];
  for (const [flag, value, want] of connection) {
    it(`of --${flag}=${value} and ${variableOf(flag)}`, () => {
      const what = `got ${JSON.stringify(value)}, want ${want}`;
      assert.equal(lineFor([`--${flag}=${value}`]), `error: --${flag}: ${what}`);
      const line = lineFor([], { [variableOf(flag)]: value });
      assert.equal(line, `error: ${variableOf(flag)}: ${what}`);
    });
  }

  const named = ['context', 'cluster', 'user'] as const;
  for (const kind of named) {
    it(`of --${kind} is named with what there is`, async () => {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, kubeconfigText);
      const chosen = resolveChoices([`--kubeconfig=${kubeconfig}`, `--${kind}=other`], {});
      const error = await loadKubeconfig(chosen.connection).catch((reason: unknown) => reason);
      const line = `error: ${kind} "other" does not exist in ${kubeconfig}; it knows: one`;
      assert.equal(errorLines(error), line);
    });
  }

  it('there is one for every flag that cannot be any text', () => {
    const text = ['namespace', 'token', 'as', 'as-group', 'as-uid', 'tls-server-name'];
    const tried = new Set([...connection.map(([flag]) => flag), ...named, ...text]);
    assert.deepEqual(connectionFlags.map(connectionFlagName).sort(), [...tried].sort());
  });
});

describe('an address with a password in it', () => {
  const hidden = 'got one with a user, a password or a query';
  const want = 'an http or https address without credentials, such as http://host:8081';
  const aServer = 'a URL such as https://10.0.0.1:6443';
  const cases: readonly (readonly [flag: string, value: string, want: string])[] = [
    ['otlp-endpoint', 'http://ada:hush@collector:4318', want],
    ['otlp-endpoint', 'http://:hush@collector:4318', want],
    ['check-url', 'http://hush@host:8081/readyz', want],
    ['server', 'ada:hush@10.0.0.1', aServer],
  ];
  for (const [flag, value, want] of cases) {
    it(`is not repeated: --${flag}=${value}`, () => {
      assert.equal(lineFor([`--${flag}=${value}`]), `error: --${flag}: ${hidden}, want ${want}`);
      const variable = variableOf(flag);
      assert.equal(
        lineFor([], { [variable]: value }),
        `error: ${variable}: ${hidden}, want ${want}`,
      );
    });
  }

  it('is not repeated from the configuration file', () => {
    const line = lineForFile({ tracing: { endpoint: 'http://ada:hush@collector:4318' } });
    assert.equal(line, `error: --config FILE: tracing.endpoint: ${hidden}, want ${want}`);
  });
});

describe('a lease that lasts no whole seconds', () => {
  const what = 'got "15s500ms", want whole seconds, such as 15s';

  it('is refused', () => {
    const flag = '--leader-elect-lease-duration';
    assert.equal(lineFor([`${flag}=15500ms`]), `error: ${flag}: ${what}`);
    const line = lineForFile({ leaderElection: { leaseDuration: '15.5s' } });
    assert.equal(line, `error: --config FILE: leaderElection.leaseDuration: ${what}`);
  });
});

describe('a wrong value in the configuration file', () => {
  it('is a grace period longer than any policy may have', () => {
    const line = lineForFile({ eviction: { gracePeriodSeconds: 1e308 } });
    const what = 'got 1e+308, which must be <= 2147483647';
    assert.equal(line, `error: --config FILE: eviction.gracePeriodSeconds: ${what}`);
  });

  // `$ref` beside other words is what TypeScript cannot say of the schema's own type.
  const root: Schema = schema;
  for (const { path, content, got } of breakages(root)) {
    it(`at ${path}: ${got}`, () => {
      const line = lineForFile(content);
      assert.ok(line.startsWith(`error: --config FILE: ${path}: got ${got}, `), line);
      assert.match(line, /, (want|which must) /);
    });
  }
});

const kubeconfigText = `
clusters: [{name: one, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: one, user: {token: t}}]
contexts: [{name: one, context: {cluster: one, user: one}}]
current-context: one
`;

/** As a file would have it: lists as lists, gates and thresholds as objects, numbers as numbers. */
function inFile(name: string, value: string): unknown {
  if (name === 'featureGates') return { Some: 'maybe' };
  if (name === 'controllers' || name === 'alwaysAllowPaths') return [value];
  const [signal = '', amount] = value.split(/[<=]/);
  if (amount !== undefined) return { [signal]: amount };
  return /^-?[\d.]+$/.test(value) ? Number(value) : value;
}

/** A value at a path of the file. */
function nested(path: string, value: unknown): object {
  return path
    .split('.')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}
