import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { authorized, load } from './kubeconfig-files.ts';

describe('credentials', () => {
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

  it('come from a plugin anew when they have expired, and not before', async (t) => {
    const expiresAt = Date.parse('2030-01-02T03:04:05Z');
    let now = expiresAt - 1;
    t.mock.method(Date, 'now', () => now);
    const dated = script.replace('"token"', '"expirationTimestamp":"2030-01-02T03:04:05Z","token"');
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': dated };
    const { access } = await authorized(t, { files });
    const token = async () => (await access.authorize()).headers.Authorization;
    assert.equal(await token(), 'Bearer t-1');
    now = expiresAt;
    assert.equal(await token(), 'Bearer t-2');
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

  it('do not come from a plugin that hangs: it ends, and what it has started, with the command', {
    timeout: 120_000,
  }, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const pipe = path.join(folder, 'begun');
    execFileSync('mkfifo', [pipe]);
    const hang = `#!/bin/sh\nsleep 1000 &\necho > ${pipe}\nwait\n`;
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': hang };
    const result = await load(t, { files });
    assert.ok(typeof result !== 'string');
    const failed = assert.rejects(result.access.authorize(), /its caller no longer waits/);
    await readFile(pipe);
    result.access.close?.();
    // Not before all have gone that held its output open.
    await failed;
  });

  it('come from a plugin though what it has started goes on, as a browser', {
    timeout: 30_000,
  }, async (t) => {
    // It reads the pipe until the test is over, with the stderr of the plugin.
    const pipe = openPipe(t);
    const login = `#!/bin/sh\ncat ${pipe} >/dev/null &\necho '{"status":{"token":"t"}}'\n`;
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': login };
    const { headers } = await authorized(t, { files });
    assert.equal(headers.Authorization, 'Bearer t');
  });

  it('do not come from a plugin that fails, though what it has started goes on: its words are told', {
    timeout: 30_000,
  }, async (t) => {
    const pipe = openPipe(t);
    const login = `#!/bin/sh\ncat ${pipe} >/dev/null &\necho 'log in first' >&2\nexit 1\n`;
    const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': login };
    const result = await load(t, { files });
    assert.ok(typeof result !== 'string');
    await assert.rejects(result.access.authorize(), /login\.sh failed: log in first/);
  });

  it('come from a plugin whose output no message repeats', async (t) => {
    for (const output of ['a-secret', '{"status":{"clientKeyData":"a-secret"}}', '"a-secret']) {
      const say = `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`;
      const files = { '.kube/config': plugin('./login.sh'), '.kube/login.sh': say };
      const result = await load(t, { files });
      assert.ok(typeof result !== 'string');
      await assert.rejects(result.access.authorize(), (error: Error) => {
        assert.match(error.message, /login\.sh failed: what it printed/);
        return !error.message.includes('a-secret');
      });
    }
  });

  it('come from a plugin that is told of the cluster, where it asks for that', async (t) => {
    const echo = `#!/bin/sh
token=$(echo "$KUBERNETES_EXEC_INFO" | tr '"' "'")
echo '{"kind":"ExecCredential","status":{"token":"'"$token"'"}}'
`;
    const extension = '{name: client.authentication.k8s.io/exec, extension: {audience: x}}';
    const cluster = `{server: "https://c", certificate-authority: ca, extensions: [${extension}]}`;
    const config = plugin('./login.sh')
      .replace('{server: "https://c"}', cluster)
      .replace('interactiveMode: Never', 'interactiveMode: Never\n      provideClusterInfo: true');
    const files = { '.kube/config': config, '.kube/login.sh': echo, '.kube/ca': 'CA' };
    const { headers } = await authorized(t, { files });
    const told = String(headers.Authorization).replace('Bearer ', '').replaceAll("'", '"');
    assert.deepEqual(JSON.parse(told).spec.cluster, {
      server: 'https://c',
      'certificate-authority-data': 'Q0E=',
      config: { audience: 'x' },
    });
  });
});

/** A named pipe of which nobody who reads it sees the end before the test is over. */
function openPipe(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  const pipe = path.join(folder, 'end');
  execFileSync('mkfifo', [pipe]);
  const writer = openSync(pipe, 'r+');
  t.after(() => {
    closeSync(writer);
    rmSync(folder, { recursive: true });
  });
  return pipe;
}
