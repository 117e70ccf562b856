import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Access, Authorization } from '../src/transport/access.ts';
import { type Case, load, prod } from './kubeconfig-files.ts';

const home = { '.kube/config': prod };

describe('credentials', () => {
  async function authorized(
    t: TestContext,
    given: Case,
  ): Promise<Authorization & { access: Access }> {
    const result = await load(t, given);
    assert.ok(typeof result !== 'string', String(result));
    return { access: result.access, ...(await result.access.authorize()) };
  }

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

  it('carry TLS material: data before files, options before both', async (t) => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const config = prod
      .replace(
        '{server:',
        `{tls-server-name: api, certificate-authority-data: ${base64('CA')}, server:`,
      )
      .replace(
        '{token: prod-token}',
        `{client-certificate-data: ${base64('CERT')}, client-certificate: missing, client-key: key}`,
      );
    const files = { '.kube/config': config, '.kube/key': 'KEY', other: 'OTHER' };
    const { tls } = await authorized(t, { files });
    assert.deepEqual([tls.ca, tls.cert, tls.key].map(String).concat(tls.servername ?? ''), [
      'CA',
      'CERT',
      'KEY',
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

  const plugin = (command: string): string => `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://c"}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ${command}
      installHint: install it from the shop
      interactiveMode: Never
`;

  const script = `#!/bin/sh
echo run >> "$(dirname "$0")/runs"
echo '{"kind":"ExecCredential","status":{"token":"t-'"$(grep -c run "$(dirname "$0")/runs")"'"}}'
`;

  it('come from a plugin beside the kubeconfig: once, and anew after a 401', async (t) => {
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': script };
    const { access } = await authorized(t, { files });
    const token = async () => (await access.authorize()).headers.Authorization;
    assert.deepEqual(await Promise.all([token(), token()]), ['Bearer t-1', 'Bearer t-1']);
    access.rejected();
    assert.deepEqual(await Promise.all([token(), token()]), ['Bearer t-2', 'Bearer t-2']);
  });

  it('come from a plugin that is told nobody sits at the keyboard', async (t) => {
    const echo = `#!/bin/sh
token=$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')
echo '{"kind":"ExecCredential","status":{"token":"'"$token"'"}}'
`;
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': echo };
    const { headers } = await authorized(t, { files });
    assert.equal(
      headers.Authorization,
      'Bearer {apiVersion:client.authentication.k8s.io/v1,kind:ExecCredential,spec:{interactive:false}}',
    );
  });

  it('come from a plugin in PATH that is missing: says how to get it', async (t) => {
    const result = await load(t, { files: { '.kube/config': plugin('taintmgr-no-such-plugin') } });
    assert.ok(typeof result !== 'string');
    await assert.rejects(result.access.authorize(), {
      message:
        'credential plugin taintmgr-no-such-plugin failed: ' +
        'spawn taintmgr-no-such-plugin ENOENT (install it from the shop)',
    });
  });

  it('go through the proxy of the cluster', async (t) => {
    const config = prod.replace('{server:', '{proxy-url: "http://127.0.0.1:3128", server:');
    const { agent } = await authorized(t, { files: { '.kube/config': config } });
    assert.ok(agent);
    const direct = await authorized(t, { files: home });
    assert.equal(direct.agent, null);
  });
});
