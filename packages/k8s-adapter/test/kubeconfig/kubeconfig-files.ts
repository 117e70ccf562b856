import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import {
  type ClusterConfig,
  type KubeconfigOptions,
  loadKubeconfig,
} from '../../src/kubeconfig/kubeconfig.ts';
import type { Access, Authorization } from '../../src/transport/access.ts';
import { KubeconfigError } from '../../src/transport/errors.ts';

/** A kubeconfig with contexts, clusters and users of many kinds. */
export const prod = `
apiVersion: v1
kind: Config
current-context: prod
contexts:
- name: prod
  context: {cluster: prod, user: admin, namespace: shop}
- name: broken
  context: {cluster: nowhere, user: admin}
- name: stranger
  context: {cluster: prod, user: nobody}
- name: aimless
  context: {user: admin}
clusters:
- name: prod
  cluster: {server: "https://prod:6443/"}
- name: proxied
  cluster: {server: "http://127.0.0.1:8001"}
users:
- name: admin
  user: {token: prod-token}
- name: robot
  user: {tokenFile: robot.token}
- name: basic
  user: {username: me, password: secret}
- name: deputy
  user: {token: t, as: jane, as-uid: "7", as-groups: [ops, dev], as-user-extra: {why/x: [a, b]}}
`;

interface Files {
  readonly [name: string]: string;
}

export interface Case {
  readonly files?: Files;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: KubeconfigOptions;
}

/**
 * Loads with these files in an empty home; KUBECONFIG and paths may say HOME.
 * The configuration, or the one line that says why there is none.
 */
export async function load(
  t: TestContext,
  { files = {}, env = {}, options = {} }: Case,
): Promise<ClusterConfig | string> {
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
  }
  const placed = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('HOME', home));
  const surroundings = { env: placed(env), home, serviceAccount: path.join(home, 'account') };
  try {
    return await loadKubeconfig(placed(options), surroundings);
  } catch (error) {
    assert.ok(error instanceof KubeconfigError, String(error));
    return error.message.replaceAll(home, 'HOME');
  }
}

/** The way in that a kubeconfig gives, logged in. */
export async function authorized(
  t: TestContext,
  given: Case,
): Promise<Authorization & { access: Access }> {
  const result = await load(t, given);
  assert.ok(typeof result !== 'string', String(result));
  return { access: result.access, ...(await result.access.authorize()) };
}
