// The check of the user's rights, and of what needs them.
import { policyApiVersion } from '@taintmgr/core/policy';
import type { Connection } from '../../cli/connection.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { isAllowed, rightOf } from '../../cluster/rights.ts';
import type { Survey } from '../../cluster/survey.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Without it nothing works at all. */
const vital = 'explain, pending, status and drain-by-taint';

const rights: readonly (readonly [right: string, neededFor: string])[] = [
  ['get nodes', vital],
  ['list nodes', vital],
  ['list pods', vital],
  ['get pods', 'explain pod'],
  ['get jobs.batch', 'explain pod, of a pod of a Job'],
  ['list events', 'finding who has evicted of late'],
  ['list poddisruptionbudgets.policy', 'finding what blocks evictions'],
  ['get leases.coordination.k8s.io -n kube-system', 'finding which controllers evict'],
  ['list leases.coordination.k8s.io', 'finding taintmgr-controller in any namespace'],
  ['get leases.coordination.k8s.io -n kube-node-lease', 'reading the heartbeats of nodes'],
  ['watch nodes', 'drain-by-taint and explain -w'],
  ['watch pods', 'drain-by-taint and explain -w'],
  ['patch nodes', 'drain-by-taint and undo'],
  ['create pods/eviction', 'drain-by-taint'],
  ['get daemonsets.apps', 'drain-by-taint on nodes with DaemonSet pods'],
  ['create events', 'drain-by-taint, to say on pods why they go'],
  ['delete pods', 'drain-by-taint --pdb-policy=delete-after or ignore'],
  ['patch pods/status', 'drain-by-taint --pdb-policy=delete-after or ignore'],
];

/** Where the cluster has our kinds. */
const ownRights: typeof rights = [
  ['list evictionpolicies.taintmgr.dev', 'explain, pending, and drain-by-taint'],
  ['list evictionpauses.taintmgr.dev', 'explain, pending, and drain-by-taint'],
  ['list nodetaintrules.taintmgr.dev', 'explain and pending'],
  ['list taintmanagers.taintmgr.dev', 'finding how taintmgr-controller runs'],
  ['get nodedrains.taintmgr.dev', 'undo'],
  ['list namespaces', 'following policies that select namespaces'],
];

/** Which rights of those that commands need are missing. */
export async function checkRights(_: Survey, { client }: Connection): Promise<readonly Finding[]> {
  const finding = findingsOf('rights');
  const isOurs = await new ClusterReader(client).serves(`/apis/${policyApiVersion}`);
  const asked = isOurs ? [...rights, ...ownRights] : rights;
  const answers = await Promise.all(asked.map(([right]) => isAllowed(client, rightOf(right))));
  if (answers.includes(null))
    return [finding('INFO', 'the API server does not say which permissions you have')];
  const missing = asked.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return [finding('OK', 'all permissions that the commands need')];
  return missing.map(([right, neededFor]) =>
    finding(neededFor === vital ? 'FAIL' : 'WARN', `no permission to ${right}`, {
      about: right.replace(/^\w+ /, ''),
      fix: `needed for ${neededFor}`,
    }),
  );
}
