import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { type ClusterConfig, loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { type Case, load, prod } from './kubeconfig-files.ts';

const second = `
current-context: second
contexts:
- name: second
  context: {cluster: prod, user: admin}
clusters:
- name: prod
  cluster: {server: "https://shadowed:6443"}
users:
- name: admin
  user: {}
`;

async function summary(result: ClusterConfig | string): Promise<string> {
  if (typeof result === 'string') return result;
  const { access, context, namespace, withheld } = result;
  const { headers } = await access.authorize();
  const authorization = headers.authorization ?? headers.Authorization ?? 'nothing';
  return `${access.server} context=${context} namespace=${namespace} ${authorization}${withheld === null ? '' : ' withheld'}`;
}

const plugin = 'client.authentication.k8s.io/v1';
const logins: Readonly<Record<string, string>> = {
  tokenFile: 'tokenFile: nowhere',
  exec: 'exec: {command: /nowhere, apiVersion: client.authentication.k8s.io/v1}',
  'auth-provider': 'auth-provider: {name: oidc, config: {id-token: x}}',
};

/** Nine times nine times nine ... values on nine lines. */
const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  .concat(
    Array.from({ length: 8 }, (_, n) => {
      return `a${n + 1}: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join(', ')}]`;
    }),
  )
  .join('\n');

const home = { '.kube/config': prod };

const cases: [string, Case, string][] = [
  [
    '~/.kube/config',
    { files: home },
    'https://prod:6443 context=prod namespace=shop Bearer prod-token',
  ],
  [
    'KUBECONFIG instead of ~/.kube/config',
    { files: { ...home, other: second }, env: { KUBECONFIG: 'HOME/other' } },
    'https://shadowed:6443 context=second namespace=default nothing',
  ],
  [
    'a list: the first file wins, missing ones are left out',
    { files: { a: prod, b: second }, env: { KUBECONFIG: 'HOME/missing::HOME/a:HOME/b' } },
    'https://prod:6443 context=prod namespace=shop Bearer prod-token',
  ],
  [
    'a list: a later file adds',
    {
      files: { a: prod, b: second },
      env: { KUBECONFIG: 'HOME/a:HOME/b' },
      options: { context: 'second' },
    },
    'https://prod:6443 context=second namespace=default Bearer prod-token',
  ],
  [
    '--kubeconfig above all',
    {
      files: { ...home, b: prod },
      env: { KUBECONFIG: 'HOME/x' },
      options: { kubeconfig: 'HOME/b' },
    },
    'https://prod:6443 context=prod namespace=shop Bearer prod-token',
  ],
  [
    '--cluster, --user and --namespace',
    { files: home, options: { cluster: 'proxied', user: 'basic', namespace: 'x' } },
    'http://127.0.0.1:8001 context=prod namespace=x nothing withheld',
  ],
  [
    '--server and --token',
    { files: home, options: { server: 'https://other/k8s/c-1', token: 'mine' } },
    'https://other/k8s/c-1 context=prod namespace=shop Bearer mine',
  ],
  ...['--token', 'tokenFile', 'exec', 'auth-provider'].map((how): [string, Case, string] => [
    `plain http gets no ${how}, and no program is run`,
    {
      files: { '.kube/config': `${prod}- name: it\n  user: {${logins[how] ?? ''}}\n` },
      options: { user: 'it', cluster: 'proxied', ...(how === '--token' && { token: 'mine' }) },
    },
    `http://127.0.0.1:8001 context=prod namespace=shop nothing withheld`,
  ]),
  [
    '--server alone',
    { options: { server: 'http://127.0.0.1:8001' } },
    'http://127.0.0.1:8001 context= namespace=default nothing',
  ],
  [
    'a token file beside the kubeconfig',
    { files: { ...home, '.kube/robot.token': 'from-file' }, options: { user: 'robot' } },
    'https://prod:6443 context=prod namespace=shop Bearer from-file',
  ],
  [
    'the service account, where there is no kubeconfig',
    {
      files: { 'account/token': 'pod-token', 'account/ca.crt': 'x', 'account/namespace': 'ops\n' },
      env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
    },
    'https://[fd00::1]:443 context= namespace=ops Bearer pod-token',
  ],
  [
    'the kubeconfig before the service account',
    {
      files: { ...home, 'account/token': 'pod-token', 'account/ca.crt': 'x' },
      env: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' },
    },
    'https://prod:6443 context=prod namespace=shop Bearer prod-token',
  ],
];

const refusals: [string, Case, string][] = [
  [
    'nothing anywhere',
    {},
    'no cluster configured: HOME/.kube/config missing or empty; ' +
      'name a file with --kubeconfig or KUBECONFIG, or a server with --server',
  ],
  [
    'a file named that does not exist',
    { options: { kubeconfig: 'HOME/nope' } },
    '--kubeconfig: HOME/nope: no such file',
  ],
  [
    'a directory',
    { files: { 'd/x': '' }, options: { kubeconfig: 'HOME/d' } },
    '--kubeconfig: HOME/d: cannot be read (EISDIR)',
  ],
  [
    'broken YAML',
    { files: { '.kube/config': 'clusters: [' } },
    'HOME/.kube/config: not valid YAML at line 1, column 12: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  [
    'a value that contains itself',
    { files: { '.kube/config': 'users: &a [*a]' } },
    'HOME/.kube/config: not valid YAML at line 1, column 12: a value contains itself',
  ],
  [
    'a few lines that stand for very much',
    { files: { '.kube/config': bomb } },
    'HOME/.kube/config: not valid YAML at line 6, column 9: it stands for more than 100000 values',
  ],
  [
    'plain text',
    { files: { '.kube/config': 'hello' } },
    'HOME/.kube/config: want a kubeconfig, got plain text',
  ],
  [
    'another kind',
    { files: { '.kube/config': 'kind: Pod' } },
    'HOME/.kube/config: kind: got "Pod", want "Config"',
  ],
  [
    'a number for a name',
    { files: { '.kube/config': 'clusters: [{name: 5}]' } },
    'HOME/.kube/config: clusters[0]: name: got a number, want a string',
  ],
  [
    'no name',
    { files: { '.kube/config': 'users: [{}]' } },
    'HOME/.kube/config: users[0]: name is missing',
  ],
  [
    'an unknown context',
    { files: home, options: { context: 'nope' } },
    'context "nope" does not exist in HOME/.kube/config; it knows: prod, broken, stranger, aimless',
  ],
  [
    'an unknown cluster',
    { files: home, options: { cluster: 'nope' } },
    'cluster "nope" does not exist in HOME/.kube/config; it knows: prod, proxied',
  ],
  [
    'a context naming an unknown cluster',
    { files: home, options: { context: 'broken' } },
    'cluster "nowhere" (named by context "broken") does not exist in HOME/.kube/config; ' +
      'it knows: prod, proxied',
  ],
  [
    'a context naming an unknown user',
    { files: home, options: { context: 'stranger' } },
    'user "nobody" (named by context "stranger") does not exist in HOME/.kube/config; ' +
      'it knows: admin, robot, basic, deputy',
  ],
  [
    'an unknown user',
    { files: home, options: { user: 'nope' } },
    'user "nope" does not exist in HOME/.kube/config; it knows: admin, robot, basic, deputy',
  ],
  [
    'a context without a cluster',
    { files: home, options: { context: 'aimless' } },
    'HOME/.kube/config: context "aimless": cluster is missing; ' +
      'choose a context with --context: prod, broken, stranger, aimless',
  ],
  [
    'no current context',
    { files: { '.kube/config': prod.replace('current-context: prod', '') } },
    'HOME/.kube/config: current-context is not set; ' +
      'choose a context with --context: prod, broken, stranger, aimless',
  ],
  [
    'a server that is no URL',
    { options: { server: '10.0.0.1:6443' } },
    '--server: got "10.0.0.1:6443", want a URL such as https://10.0.0.1:6443',
  ],
  [
    'a cluster without a server',
    { files: { '.kube/config': prod.replace('{server: "https://prod:6443/"}', '{}') } },
    'HOME/.kube/config: cluster "prod": server is missing',
  ],
  [
    'a token that is a number',
    { files: { '.kube/config': prod.replace('prod-token', '12345') } },
    'HOME/.kube/config: user "admin": token: got a number, want a string',
  ],
  [
    'a token file that does not exist',
    { files: home, options: { user: 'robot' } },
    'HOME/.kube/config: user "robot": tokenFile: HOME/.kube/robot.token: no such file',
  ],
  [
    'an authority that does not exist',
    { files: home, options: { certificateAuthority: 'HOME/ca' } },
    '--certificate-authority: HOME/ca: no such file',
  ],
  [
    'a certificate without its key',
    { files: { ...home, c: '' }, options: { clientCertificate: 'HOME/c' } },
    'HOME/.kube/config: user "admin": client-certificate without client-key; both are needed',
  ],
  [
    'an authority that is not to be used',
    {
      files: { ...home, c: '' },
      options: { certificateAuthority: 'HOME/c', insecureSkipTlsVerify: true },
    },
    '--insecure-skip-tls-verify and --certificate-authority exclude each other; give one of them',
  ],
  [
    'an authority in the file that is not to be used',
    {
      files: {
        c: '',
        '.kube/config': prod.replace(
          '{server: "https://prod',
          '{insecure-skip-tls-verify: true, certificate-authority: ../c, server: "https://prod',
        ),
      },
    },
    'HOME/.kube/config: cluster "prod": insecure-skip-tls-verify and certificate-authority exclude each other; remove one of them',
  ],
  [
    'a group without a user',
    { files: home, options: { asGroup: ['ops'] } },
    'a group or uid to impersonate needs a user: add --as',
  ],
  [
    'a proxy that is none',
    {
      files: {
        '.kube/config': prod.replace(
          '{server: "https://prod',
          '{proxy-url: x, server: "https://prod',
        ),
      },
    },
    'HOME/.kube/config: cluster "prod": proxy-url: got "x", want a URL with http, https or socks5',
  ],
  [
    'a plugin that would ask its user',
    {
      files: {
        '.kube/config': prod.replace(
          '{token: prod-token}',
          `{exec: {apiVersion: ${plugin}, command: login, interactiveMode: Always}}`,
        ),
      },
    },
    'HOME/.kube/config: user "admin": exec: interactiveMode is "Always", ' +
      'but there is no terminal; want IfAvailable or Never',
  ],
  [
    'a timeout that is none',
    { files: home, options: { requestTimeout: 'soon' } },
    '--request-timeout: got "soon", want a duration such as 10s or 1m30s',
  ],
];

describe('kubeconfig', () => {
  for (const [name, given, expected] of cases) {
    it(name, async (t) => assert.equal(await summary(await load(t, given)), expected));
  }
});

describe('kubeconfig refuses', () => {
  for (const [name, given, expected] of refusals) {
    it(name, async (t) => assert.equal(await load(t, given), expected));
  }
});

const cluster = (fields: string): string => prod.replace('{server: "https://prod:6443/"', fields);
const withAuthority = cluster('{certificate-authority-data: QQ==, server: "https://prod:6443/"');

const authorities: readonly (readonly [name: string, given: Case, isNone: boolean])[] = [
  ['where the cluster names its own', { files: { '.kube/config': withAuthority } }, true],
  [
    'where the server is believed without',
    { files: home, options: { insecureSkipTlsVerify: true } },
    true,
  ],
  ['but where none is named', { files: home }, false],
  [
    'but for a proxy',
    { files: { '.kube/config': withAuthority }, env: { HTTPS_PROXY: 'https://proxy:3128' } },
    false,
  ],
  [
    'but for an auth provider',
    {
      files: {
        '.kube/config': withAuthority.replace(
          '{token: prod-token}',
          '{auth-provider: {name: oidc, config: {idp-issuer-url: "https://idp"}}}',
        ),
      },
    },
    false,
  ],
];

describe('of the authorities that everybody trusts none is needed', () => {
  for (const [name, given, isNone] of authorities) {
    it(name, async (t) => {
      const config = await load(t, given);
      if (typeof config === 'string') assert.fail(config);
      assert.equal(config.needsNoAuthorities, isNone);
    });
  }
});

describe('without a home', () => {
  const surroundings = { env: {}, home: null, serviceAccount: '/nowhere' };

  it('there is no ~/.kube/config, and it says so', async () => {
    await assert.rejects(loadKubeconfig({}, surroundings), {
      name: 'KubeconfigError',
      message:
        'no cluster configured: HOME is not set; name a file with --kubeconfig or KUBECONFIG, ' +
        'or a server with --server',
    });
  });

  const isRoot = process.getuid?.() === 0;
  it('a user whom /etc/passwd does not know is nobody to crash for', { skip: !isRoot }, () => {
    // As with runAsUser in a pod: libuv finds no entry for the id.
    const script = `process.setuid(54321); delete process.env.HOME;
      import('${new URL('../../src/kubeconfig/kubeconfig.ts', import.meta.url)}')
        .then(({ loadKubeconfig }) => loadKubeconfig())
        .catch((error) => console.log(error.name + ': ' + error.message));`;
    const { env } = process;
    const own = { ...env, HOME: undefined, KUBECONFIG: undefined, KUBERNETES_SERVICE_HOST: '' };
    const flags = ['--conditions', '@taintmgr/source', '--eval', script];
    const { stdout } = spawnSync(process.execPath, flags, { env: own, encoding: 'utf8' });
    assert.match(stdout, /^KubeconfigError: no cluster configured: HOME is not set;/);
  });
});
