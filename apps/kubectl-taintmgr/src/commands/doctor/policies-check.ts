// The check whether taintmgr-controller may do what policies ask of it.
import {
  actionRights,
  type EvictionPolicy,
  type PodRight,
  podRightRemedies,
} from '@taintmgr/core/policy';
import type { Connection } from '../../cli/connection.ts';
import { leaderAccount } from '../../cluster/evictors.ts';
import { readClusterPolicies } from '../../cluster/policies.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { isAllowedTo, rightOf } from '../../cluster/rights.ts';
import type { Survey } from '../../cluster/survey.ts';
import { type Finding, findingsOf, orWell } from './finding.ts';

const rights: readonly PodRight[] = ['delete pods', 'create pods/eviction'];

/**
 * Policies whose pods stay for ever, as the service account of the leader lacks a right; nothing where its
 * pod is not to be seen.
 */
export async function checkPolicies(
  { evictors, evictor }: Survey,
  { client }: Pick<Connection, 'client'>,
): Promise<readonly Finding[]> {
  const finding = findingsOf('policies');
  const reader = new ClusterReader(client);
  const account = await leaderAccount(evictors, reader);
  if (account === null) return [];
  const { objects } = await readClusterPolicies(reader, Promise.resolve(evictor));
  const policies = objects.flatMap(({ kind, value }) => (kind === 'EvictionPolicy' ? [value] : []));
  const asked = rights.filter((right) => policies.some((one) => takes(one, right)));
  if (asked.length === 0) return [];
  const answers = await Promise.all(
    asked.map((right) => isAllowedTo(client, account, rightOf(right))),
  );
  if (answers.includes(null)) {
    return [finding('INFO', 'no permission to see which permissions taintmgr-controller has')];
  }
  const missing = asked.filter((_, index) => answers[index] === false);
  const findings = policies.flatMap((policy) =>
    missing
      .filter((right) => takes(policy, right))
      .map((right) => {
        const who = `serviceaccount ${account.name} -n ${account.namespace}`;
        const message = `action ${policy.action} takes a permission that ${who} has not: ${right}; its pods stay`;
        const fix = podRightRemedies[right];
        return finding('FAIL', message, { about: `evictionpolicy/${policy.name}`, fix });
      }),
  );
  return orWell(
    finding,
    findings,
    'taintmgr-controller may do what the actions of policies ask for',
  );
}

function takes({ action }: EvictionPolicy, right: PodRight): boolean {
  return action !== null && actionRights[action].includes(right);
}
