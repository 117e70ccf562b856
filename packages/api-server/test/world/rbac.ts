import assert from 'node:assert/strict';
import type { User } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import type { RequestOptions, Response } from '../../../sim-cluster/test/world/client.ts';
import { serviceAccountUser } from '../../src/auth/authorizer.ts';
import { type Fixture, fixture } from './api-fixture.ts';

export const group = 'rbac.authorization.k8s.io';
export const apiVersion = `${group}/v1`;
export const agentAccount = [{ kind: 'ServiceAccount', name: 'agent', namespace: 'ops' }];

export function rule(verbs: string, resources: string, more: object = {}): object {
  return { verbs: verbs.split(' '), apiGroups: [''], resources: resources.split(' '), ...more };
}

export function role(
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: object[],
  more: object = {},
) {
  const namespace = kind === 'Role' ? { namespace: 'default' } : {};
  return { apiVersion, kind, metadata: { name, ...namespace, ...more }, rules };
}

export function binding(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  roleRef: string,
  subjects: readonly object[] = agentAccount,
) {
  const namespace = kind === 'RoleBinding' ? { namespace: 'default' } : {};
  const [roleKind, roleName] = roleRef.split(' ');
  const ref = { apiGroup: group, kind: roleKind, name: roleName };
  return { apiVersion, kind, metadata: { name, ...namespace }, roleRef: ref, subjects };
}

export interface Bench extends Fixture {
  /** What the service account ops/agent is answered. */
  ask(method: string, path: string, options?: RequestOptions): Response;
}

/** A cluster with these objects, of which tokens only know the names. */
export function bench(...objects: readonly object[]): Bench {
  const tokens = new Map<string, User>([
    ['admin', { name: 'admin', groups: ['system:masters'], rules: [] }],
    ['agent', { ...serviceAccountUser('ops', 'agent'), uid: 'u-1' }],
    ['alice', { name: 'alice', groups: ['staff'], rules: [] }],
  ]);
  const running = fixture({ tokens });
  const report = running.api.load([{ kind: 'List', apiVersion: 'v1', items: objects }]);
  assert.deepEqual(report.unloaded, []);
  const { client } = running;
  return {
    ...running,
    ask: (method, path, options = {}) =>
      client.request(method, path, { token: 'agent', ...options }),
  };
}
