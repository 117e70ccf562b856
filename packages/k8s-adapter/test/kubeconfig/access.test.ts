import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { createCertificate } from '@taintmgr/api-server';
import { isPlain, PlainLogin } from '../../src/kubeconfig/access.ts';
import type { ClusterSettings, UserSettings } from '../../src/kubeconfig/entries.ts';
import { authorized, prod } from './kubeconfig-files.ts';

const home = { '.kube/config': prod };

describe('credentials', () => {
  it('impersonate by all that the kubeconfig says', async (t) => {
    const { headers } = await authorized(t, { files: home, options: { user: 'deputy' } });
    assert.deepEqual(headers, {
      Authorization: 'Bearer t',
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': ['ops', 'dev'],
      'impersonate-extra-why%2Fx': ['a', 'b'],
    });
  });

  it('impersonate by the options before the kubeconfig', async (t) => {
    const options = { user: 'deputy', as: 'joe', asGroup: ['x'] };
    const { headers } = await authorized(t, { files: home, options });
    assert.equal(headers['impersonate-user'], 'joe');
    assert.deepEqual(headers['impersonate-group'], ['x']);
  });

  it('carry TLS material: data and files, options before both', async (t) => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const pair = createCertificate(Date.now());
    const [cert, key] = [String(pair.certificate), String(pair.key)];
    const config = prod
      .replace(
        '{server:',
        `{tls-server-name: api, certificate-authority-data: ${base64('CA')}, server:`,
      )
      .replace(
        '{token: prod-token}',
        `{client-certificate-data: ${base64(cert)}, client-key: key}`,
      );
    const files = { '.kube/config': config, '.kube/key': key, other: 'OTHER' };
    const { tls } = await authorized(t, { files });
    assert.deepEqual([tls.ca, tls.cert, tls.key].map(String).concat(tls.servername ?? ''), [
      'CA',
      cert,
      key,
      'api',
    ]);
    const overridden = await authorized(t, {
      files,
      options: { certificateAuthority: 'HOME/other', tlsServerName: 'x' },
    });
    assert.deepEqual([String(overridden.tls.ca), overridden.tls.servername], ['OTHER', 'x']);
    const insecure = await authorized(t, { files, options: { insecureSkipTlsVerify: true } });
    assert.deepEqual([insecure.tls.ca, insecure.tls.rejectUnauthorized], [undefined, false]);
  });

  it('impersonate in the letters of every language, and escape what no header may have', async (t) => {
    const config = prod.replace(
      '{token: prod-token}',
      '{token: t, as-user-extra: {"a(b é%": [x]}}',
    );
    const { headers } = await authorized(t, {
      files: { '.kube/config': config },
      options: { as: 'jörg' },
    });
    const bytes = Buffer.from(String(headers['impersonate-user']), 'latin1');
    assert.equal(bytes.toString(), 'jörg');
    assert.deepEqual(headers['impersonate-extra-a%28b%20%C3%A9%25'], ['x']);
  });

  it('come from a file that changes', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'token');
    writeFileSync(file, 'old');
    const files = { '.kube/config': prod.replace('robot.token', file) };
    const { access } = await authorized(t, { files, options: { user: 'robot' } });
    const token = async () => (await access.authorize()).headers.Authorization;
    assert.equal(await token(), 'Bearer old');
    writeFileSync(file, 'new');
    access.rejected();
    assert.equal(await token(), 'Bearer new', 'after a 401 it is read anew');
  });

  it('go through the proxy of the cluster', async (t) => {
    const ways = ['http://127.0.0.1:3128', 'socks5://127.0.0.1:1080'].map(async (url) => {
      const config = prod.replace('{server:', `{proxy-url: "${url}", server:`);
      const { agent, proxy } = await authorized(t, { files: { '.kube/config': config } });
      return [proxy?.href, agent !== null];
    });
    assert.deepEqual(await Promise.all(ways), [
      ['http://127.0.0.1:3128/', false],
      [undefined, true],
    ]);
    const direct = await authorized(t, { files: home });
    assert.deepEqual([direct.proxy, direct.agent], [null, null]);
  });
});

const folder = mkdtempSync(path.join(tmpdir(), 'taintmgr-login-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(content: string): string {
  const file = path.join(folder, content);
  writeFileSync(file, content);
  return file;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const cluster: ClusterSettings = { name: 'c', server: 'https://c', skipTLSVerify: false };
const user: UserSettings = { name: 'u', headers: {} };
const tokenIn = (tokenFile: string): UserSettings => ({
  ...user,
  authProvider: { name: 'tokenFile', config: { tokenFile } },
});

describe('a login by what is written down', () => {
  const cases: Readonly<Record<string, readonly [Partial<ClusterSettings>, UserSettings]>> = {
    'nothing at all': [{}, user],
    'a token': [{ caData: base64('CA') }, { ...user, token: 't' }],
    'a token in a file': [{ caFile: fileOf('CA') }, tokenIn(fileOf('token'))],
    'a name and a password': [{ tlsServerName: 'x' }, { ...user, username: 'a', password: 'b:c' }],
    'a certificate': [{}, { ...user, certData: base64('CERT'), keyData: base64('KEY') }],
    'a certificate in files': [{}, { ...user, certFile: fileOf('CERT'), keyFile: fileOf('KEY') }],
    'no verification': [{ skipTLSVerify: true }, { ...user, token: 't' }],
  };
  for (const [name, [settings, who]] of Object.entries(cases)) {
    it(`is that of @kubernetes/client-node: ${name}`, async () => {
      const where = { ...cluster, ...settings };
      assert.ok(isPlain(where, who));
      const { headers, tls } = await new PlainLogin(where, who).authorize();
      // Of what client-node leaves open, NODE_TLS_REJECT_UNAUTHORIZED would decide.
      assert.equal(tls.rejectUnauthorized, !where.skipTLSVerify);
      const { rejectUnauthorized: _, ...material } = tls;
      const theirs = await clientNodeLogin(where, who);
      assert.deepEqual({ headers, tls: texts(material) }, theirs);
    });
  }

  it('reads its files again after ten seconds, for they are replaced', async () => {
    let now = 0;
    const file = fileOf('first');
    const login = new PlainLogin(cluster, tokenIn(file), () => now);
    const token = async () => (await login.authorize()).headers.Authorization;
    assert.equal(await token(), 'Bearer first');
    // With a line break, as editors leave it.
    writeFileSync(file, 'second\n');
    now = 9_999;
    assert.equal(await token(), 'Bearer first');
    now = 10_000;
    assert.equal(await token(), 'Bearer second');
  });

  it('reads its files again where the clock was set back', async () => {
    let now = 3_600_000;
    const file = fileOf('before');
    const login = new PlainLogin(cluster, tokenIn(file), () => now);
    const token = async () => (await login.authorize()).headers.Authorization;
    assert.equal(await token(), 'Bearer before');
    writeFileSync(file, 'after');
    now = 0;
    assert.equal(await token(), 'Bearer after');
  });

  const gaps: Readonly<Record<string, (file: string) => void>> = {
    empty: (file) => writeFileSync(file, ''),
    blank: (file) => writeFileSync(file, '\n'),
    gone: (file) => unlinkSync(file),
  };
  for (const [name, make] of Object.entries(gaps)) {
    it(`uses a token on while its file is ${name}, and looks again in a second`, async () => {
      let now = 0;
      const file = fileOf(`whole before ${name}`);
      const login = new PlainLogin(cluster, tokenIn(file), () => now);
      const token = async () => (await login.authorize()).headers.Authorization;
      const first = await token();
      make(file);
      now = 10_000;
      assert.equal(await token(), first);
      writeFileSync(file, 'second');
      now = 10_999;
      assert.equal(await token(), first);
      now = 11_000;
      assert.equal(await token(), 'Bearer second');
    });
  }

  it('does not go on as nobody where a file is empty', async () => {
    const file = fileOf('to be emptied');
    writeFileSync(file, '');
    for (const login of [
      new PlainLogin(cluster, tokenIn(file)),
      new PlainLogin(cluster, { ...user, certFile: file, keyFile: file }),
      new PlainLogin({ ...cluster, caFile: file }, user),
    ]) {
      await assert.rejects(login.authorize(), /to be emptied is empty$/);
    }
  });

  it('says which file is gone', async () => {
    const login = new PlainLogin(cluster, tokenIn(path.join(folder, 'gone')));
    await assert.rejects(login.authorize(), /ENOENT: no such file or directory, open '.*gone'/);
  });

  it('is not for plugins, other providers and SOCKS', () => {
    assert.equal(isPlain(cluster, { ...user, exec: { command: 'x' } }), false);
    assert.equal(isPlain(cluster, { ...user, authProvider: { name: 'oidc' } }), false);
    assert.equal(isPlain({ ...cluster, proxyUrl: 'socks5://p' }, user), false);
    assert.ok(isPlain({ ...cluster, proxyUrl: 'http://p' }, user));
  });
});

async function clientNodeLogin(where: ClusterSettings, who: UserSettings): Promise<object> {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(where, who);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { headers, auth, ca, cert, key, servername } = options;
  const basic = auth && { Authorization: `Basic ${base64(auth)}` };
  const tls = texts({ ca, cert, key, servername });
  return { headers: { ...headers, ...basic }, tls };
}

/** Comparable: what is missing, null or undefined, is left out. */
function texts(tls: object): object {
  const present = Object.entries(tls).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}
