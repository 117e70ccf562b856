// Checks of the API server: its version, its webhooks and the rights of who asks.

import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter/client';
import { count } from '@taintmgr/k8s-adapter/command-line';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import {
  ClusterReader,
  isAllowed,
  nodeClockText,
  readInterceptions,
  rightOf,
  type Survey,
} from '@taintmgr/k8s-adapter/survey';
import type { Connection } from '../../cli/connection.ts';
import { type Finding, findingsOf, orWell } from './finding.ts';

/** The oldest API server that taintmgr is tested with: docs/versions.md. */
const minorMin = 30;
/** An HTTP date has whole seconds, and the answer took some time. */
const skewTolerated: Millis = 2000;
const skewFailing: Millis = 30_000;

interface Version {
  readonly gitVersion?: string;
  readonly major?: string;
  readonly minor?: string;
}

const versionRequest = {
  method: 'GET',
  path: '/version',
  headers: { accept: 'application/json' },
  body: null,
} as const;

/** Checks that the version of the API server is known. */
export async function checkServer(_: Survey, { client }: Connection): Promise<readonly Finding[]> {
  const finding = findingsOf('api-server');
  const version = (await client.send(versionRequest)) as Version;
  const { gitVersion = '?', major, minor = '' } = version;
  const isOld = major !== '1' || Number.parseInt(minor, 10) < minorMin;
  if (!isOld) return [finding('OK', `version ${gitVersion}`)];
  const message = `version ${gitVersion} is older than any version taintmgr is tested with`;
  return [finding('WARN', message, { fix: `upgrade the API server to 1.${minorMin} or newer` })];
}

/** Checks that this machine, the nodes and the API server agree about the time. */
export async function checkClock(
  { nodes }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const names = (nodes ?? []).map(({ node }) => node.name);
  const [machine, leases] = await Promise.all([
    checkMachineClock(client),
    new ClusterReader(client).leasesRenewedAt(names),
  ]);
  const finding = findingsOf('clock');
  const apart = Array.from(leases).flatMap(([name, lease]) => {
    const text = nodeClockText(lease);
    if (text === null) return [];
    const fix = 'set the clock of the node';
    return [finding('WARN', `its clock is ${text}, by its lease`, { about: `node/${name}`, fix })];
  });
  return [machine, ...apart];
}

async function checkMachineClock(client: ApiClient): Promise<Finding> {
  const finding = findingsOf('clock');
  const begin = Date.now();
  const { serverTime: date } = await client.ask(versionRequest);
  if (date === null) return finding('INFO', 'the API server does not send its time');
  // Somewhere between asking and hearing it was that second.
  const skew = Math.max(0, begin - (date + 1000), date - Date.now());
  if (skew <= skewTolerated) return finding('OK', 'this machine agrees with the API server');
  const level = skew >= skewFailing ? 'FAIL' : 'WARN';
  const behind = date > begin ? 'behind' : 'ahead of';
  const message = `this machine is ${formatDuration(skew)} ${behind} the API server; remaining times are off by as much`;
  return finding(level, message, { fix: 'set the clock of this machine' });
}

const group = '/apis/admissionregistration.k8s.io/v1';
const kinds = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] as const;

interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}

interface Webhook {
  readonly name: string;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly clientConfig?: {
    readonly service?: { readonly namespace: string; readonly name: string };
  };
}

interface Configuration {
  readonly metadata: { readonly name: string };
  readonly webhooks?: readonly Webhook[];
}

/** Webhooks that may keep evictions for themselves, whether they are there, and the pods that they keep. */
export async function checkWebhooks(
  { pods }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const finding = findingsOf('webhooks');
  const reader = new ClusterReader(client);
  const read = (kind: string): Promise<readonly unknown[] | null> =>
    reader.ifAllowed(async () => (await reader.objectsIfServed(`${group}/${kind}`)) ?? []);
  const [intercepted, ...lists] = await Promise.all([
    readInterceptions(reader),
    ...kinds.map(read),
  ]);
  const findings: Finding[] = [];
  for (const configuration of lists.flatMap((list) => (list ?? []) as readonly Configuration[])) {
    for (const webhook of (configuration.webhooks ?? []).filter(isAskedAboutEvictions)) {
      const about = `webhook/${webhook.name}`;
      findings.push(
        (await isThere(reader, webhook))
          ? finding('INFO', askedText(webhook, configuration), { about })
          : finding(...missing(webhook, configuration, about)),
      );
    }
  }
  const names = new Map((pods ?? []).map(({ pod }) => [pod.uid, pod] as const));
  for (const [uid, said] of intercepted) {
    const pod = names.get(uid);
    if (!pod || pod.deletionTimestamp !== null) continue;
    const about = `pod/${pod.name} -n ${pod.namespace}`;
    findings.push(finding('INFO', `another program may move it: ${said}`, { about }));
  }
  if (lists.includes(null)) {
    findings.push(finding('INFO', 'no permission to list admission webhooks'));
  }
  return orWell(finding, findings, 'no admission webhook is asked about evictions');
}

function isAskedAboutEvictions({ rules = [] }: Webhook): boolean {
  const has = (texts: readonly string[] = [], ...wanted: readonly string[]): boolean =>
    wanted.some((text) => texts.includes(text));
  return rules.some(
    ({ operations, apiGroups, resources }) =>
      has(operations, '*', 'CREATE') &&
      has(apiGroups, '*', '') &&
      has(resources, 'pods/eviction', 'pods/*', '*/eviction', '*/*'),
  );
}

/** Whether its Service exists; true for one at a URL, and where we may not see Services. */
async function isThere(reader: ClusterReader, { clientConfig }: Webhook): Promise<boolean> {
  const { service } = clientConfig ?? {};
  return !service || (await reader.hasService(service.namespace, service.name));
}

function askedText(webhook: Webhook, { metadata }: Configuration): string {
  const { failurePolicy = 'Fail', timeoutSeconds = 10 } = webhook;
  const failing =
    failurePolicy === 'Fail'
      ? `without an answer within ${count(timeoutSeconds, 'second')} they fail`
      : `without an answer within ${count(timeoutSeconds, 'second')} they go on`;
  return `is asked about evictions (${metadata.name}): its owner moves the pods that it keeps; ${failing}`;
}

function missing(
  { failurePolicy = 'Fail', clientConfig }: Webhook,
  { metadata }: Configuration,
  about: string,
): readonly ['FAIL' | 'WARN', string, { readonly about: string; readonly fix: string }] {
  const { namespace = '', name = '' } = clientConfig?.service ?? {};
  const gone = `its Service ${namespace}/${name} does not exist`;
  const fix = `bring the Service back, or delete ${metadata.name}`;
  return failurePolicy === 'Fail'
    ? ['FAIL', `${gone}: evictions that it is asked about fail`, { about, fix }]
    : ['WARN', `${gone}: it is not asked about evictions`, { about, fix }];
}

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

/** The rights where the cluster has our kinds. */
const ownRights: typeof rights = [
  ['list evictionpolicies.taintmgr.dev', 'explain, pending, and drain-by-taint'],
  ['list evictionpauses.taintmgr.dev', 'explain, pending, and drain-by-taint'],
  ['list nodetaintrules.taintmgr.dev', 'explain and pending'],
  ['list taintmanagers.taintmgr.dev', 'finding how taintmgr-controller runs'],
  ['get nodedrains.taintmgr.dev', 'undo'],
  ['list namespaces', 'following policies that select namespaces'],
];

/** The missing rights of those that commands need. */
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
    finding(
      neededFor === vital ? 'FAIL' : 'WARN',
      `no permission to ${right}, needed for ${neededFor}`,
    ),
  );
}
