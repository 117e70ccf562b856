// The check of the user's rights, and of what needs them.

import type { Connection } from '../../cli/connection.ts';
import { isAllowed, type Right } from '../../cluster/rights.ts';
import type { Survey } from '../../cluster/survey.ts';
import { type Finding, findingsOf } from './finding.ts';

/** A right, and what needs it. */
interface Needed extends Right {
  readonly neededFor: string;
  /** Without it nothing works at all. */
  readonly isVital?: true;
}

const reading = 'explain, pending, status and drain-by-taint';
const draining = 'drain-by-taint';

const rights: readonly Needed[] = [
  { verb: 'get', group: '', resource: 'nodes', neededFor: reading, isVital: true },
  { verb: 'list', group: '', resource: 'nodes', neededFor: reading, isVital: true },
  { verb: 'list', group: '', resource: 'pods', neededFor: reading, isVital: true },
  {
    verb: 'list',
    group: 'policy',
    resource: 'poddisruptionbudgets',
    neededFor: 'telling what blocks evictions',
  },
  {
    verb: 'get',
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: 'kube-system',
    neededFor: 'telling which controllers evict',
  },
  {
    verb: 'list',
    group: 'coordination.k8s.io',
    resource: 'leases',
    neededFor: 'saying whether taintmgr-controller runs, in whatever namespace',
  },
  {
    verb: 'get',
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: 'kube-node-lease',
    neededFor: 'telling how healthy nodes are',
  },
  { verb: 'watch', group: '', resource: 'nodes', neededFor: `${draining} and explain -w` },
  { verb: 'watch', group: '', resource: 'pods', neededFor: `${draining} and explain -w` },
  { verb: 'patch', group: '', resource: 'nodes', neededFor: `${draining} and undo` },
  { verb: 'create', group: '', resource: 'pods/eviction', neededFor: draining },
  {
    verb: 'get',
    group: 'apps',
    resource: 'daemonsets',
    neededFor: `${draining} on nodes with DaemonSet pods`,
  },
  {
    verb: 'delete',
    group: '',
    resource: 'pods',
    neededFor: `${draining} --pdb-policy=delete-after or ignore`,
  },
];

/** Which rights of those that commands need are missing. */
export async function checkRights(_: Survey, connection: Connection): Promise<readonly Finding[]> {
  const finding = findingsOf('rights');
  const answers = await Promise.all(rights.map((right) => isAllowed(connection.client, right)));
  if (answers.includes(null))
    return [finding('INFO', 'the API server does not say which permissions you have')];
  const missing = rights.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return [finding('OK', 'all permissions that the commands need')];
  return missing.map((right) =>
    finding(right.isVital ? 'FAIL' : 'WARN', `no permission to ${right.verb} ${nameOf(right)}`, {
      about: nameOf(right),
      fix: `needed for ${right.neededFor}`,
    }),
  );
}

function nameOf({ group, resource, namespace }: Right): string {
  const full = group === '' ? resource : `${resource}.${group}`;
  return namespace === undefined ? full : `${full} -n ${namespace}`;
}
