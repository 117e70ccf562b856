// The checks of the API server's version, and of the clocks of this machine and of nodes against it.
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { ApiClient } from '@taintmgr/k8s-adapter/client';
import type { Connection } from '../../cli/connection.ts';
import { nodeClockText } from '../../cluster/lease-renewal.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { Survey } from '../../cluster/survey.ts';
import { type Finding, findingsOf } from './finding.ts';

/** The oldest API server whose behaviour we know. */
const minorMin = 27;
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

/** Whether the API server is one we know. */
export async function checkServer(_: Survey, { client }: Connection): Promise<readonly Finding[]> {
  const finding = findingsOf('api-server');
  const version = (await client.send(versionRequest)) as Version;
  const { gitVersion = '?', major, minor = '' } = version;
  const isOld = major !== '1' || Number.parseInt(minor, 10) < minorMin;
  if (!isOld) return [finding('OK', `version ${gitVersion}`)];
  const message = `version ${gitVersion} is older than any version taintmgr is tested with`;
  return [finding('WARN', message, { fix: `upgrade the API server to 1.${minorMin} or newer` })];
}

/** Whether this machine, the nodes and the API server agree about the time. */
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
