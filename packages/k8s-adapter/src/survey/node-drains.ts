// The NodeDrains of the cluster: read, made, deleted and released.
import { nodeDrainer } from '@taintmgr/core/drain';
import type { NodeDrain, NodeDrainSpec } from '@taintmgr/core/policy';
import { formatDuration } from '@taintmgr/core/time';
import type { ApiClient } from '../client/client.ts';
import { guardRequest, nodeDrainPath } from '../controller/procedures/drain-write.ts';
import { type Change, readModifyWrite } from '../controller/task.ts';
import { isAtWork, readMarks } from '../drain/marks.ts';
import { isFresh } from '../evictors/judge.ts';
import { policyApiVersion, policyKinds } from '../kinds/kinds.ts';
import type { NodeDrainStatus } from '../kinds/node-drain-status.ts';
import { readFollowed } from '../manifests/followed.ts';
import { answerValue } from '../proto/answer.ts';
import { type ApiRequest, listRequest, objectRequest } from '../proto/requests.ts';
import { UsageError } from '../text/usage-error.ts';
import { ApiError } from '../transport/errors.ts';
import type { NodeFacts, ObjectMeta } from './facts.ts';
import type { ClusterReader } from './reader.ts';
import { ifThere, unless } from './refusals.ts';
import { type PublishedManagers, readTaintManagers } from './taint-managers.ts';

const path = `/apis/${policyApiVersion}/${policyKinds.NodeDrain.plural}`;
const fieldManager = 'taintmgr';
const conflictsMax = 5;
/** The number that is asked for one by one. */
const singlesMax = 16;

/** A NodeDrain as the API server has it, as far as commands read it. */
export interface NodeDrainObject {
  /** The metadata of the object. */
  readonly metadata: ObjectMeta & { readonly deletionTimestamp?: string };
  /** The fields of the spec that commands read. */
  readonly spec?: Pick<NodeDrainSpec, 'nodeConditions' | 'pods'>;
  /** Left out: no controller has written one yet. */
  readonly status?: NodeDrainStatus;
}

const drainerRole =
  'the ClusterRole taintmgr-drainer of deploy/kustomize/components/node-drains lets people drain by ' +
  'NodeDrains; nothing was changed';

/** Names a NodeDrain as kubectl does: `nodedrain.taintmgr.dev/kernel`. */
export function nodeDrainReference(name: string): string {
  return `nodedrain.${policyApiVersion.split('/')[0]}/${name}`;
}

/**
 * Creates a NodeDrain, or lets the API server check it in a dry run; returns the object of the
 * answer. Throws UsageError where the kind is not served or a right is missing, else ApiError.
 */
export async function createNodeDrain(
  client: ApiClient,
  manifest: object,
  dryRun: boolean,
): Promise<NodeDrainObject> {
  const query = `fieldManager=${fieldManager}&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
  try {
    const made = await client.send(objectRequest('POST', `${path}?${query}`, manifest));
    return made as NodeDrainObject;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status } = error.failure;
    if (status === 404) throw notInstalled();
    if (status === 403) throw new UsageError(`${error.failure.message}; ${drainerRole}`);
    throw error;
  }
}

/** A NodeDrain; null: there is none of the name, or no such kind. */
export async function readNodeDrain(
  client: ApiClient,
  name: string,
): Promise<NodeDrainObject | null> {
  const request = listRequest(nodeDrainPath(name));
  return await ifThere(async () => (await client.send(request)) as NodeDrainObject);
}

/** Reads all NodeDrains; none where the kind is not served or may not be read. */
export async function listNodeDrains(client: ApiClient): Promise<readonly NodeDrainObject[]> {
  const read = async () => (await client.list(path)) as readonly NodeDrainObject[];
  return (await unless(403, () => ifThere(read), null)) ?? [];
}

/**
 * The NodeDrains at work on these nodes; none where we may not see them: their marks have to do
 * then.
 */
export async function nodeDrainsAt(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
): Promise<readonly NodeDrain[]> {
  const now = reader.now();
  const ids = nodes.flatMap(({ annotations }) => {
    const ours = readMarks(annotations).filter(
      (mark) => mark.by === nodeDrainer && isAtWork(mark, now),
    );
    return ours.map(({ id }) => id);
  });
  const names = [...new Set(ids)];
  const objects =
    names.length > singlesMax
      ? ((await reader.ifAllowed(() => reader.objects(path))) ?? [])
      : await Promise.all(names.map((name) => reader.objectIfAllowed(nodeDrainPath(name))));
  return objects.flatMap((object) => {
    const found = object === null ? null : readFollowed('NodeDrain', object).object;
    return found?.kind === 'NodeDrain' ? [found.value] : [];
  });
}

/**
 * Deletes this NodeDrain, by its UID; one that is gone already is fine. The object stays until its
 * changes of nodes are undone. Throws ApiError.
 */
export async function deleteNodeDrain(
  client: ApiClient,
  { metadata: { name, uid = '' } }: NodeDrainObject,
  dryRun: boolean,
): Promise<void> {
  const options = {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
    ...(dryRun && { dryRun: ['All'] }),
  };
  try {
    await client.send(objectRequest('DELETE', nodeDrainPath(name), options));
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 404) throw error;
  }
}

/** Takes the finalizer off that a controller has put on; others' stay. */
export async function releaseNodeDrain(client: ApiClient, name: string): Promise<void> {
  const change: Change = (found) =>
    guardRequest(answerValue(found), false, fieldManager) ?? { kind: 'done' };
  try {
    const read = (): ApiRequest => listRequest(nodeDrainPath(name));
    await client.carryOut(readModifyWrite(read, change, conflictsMax));
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 404) throw error;
  }
}

function notInstalled(): UsageError {
  return new UsageError(
    'this cluster does not know the kind NodeDrain; install it with: kubectl taintmgr install crds; nothing was changed',
  );
}

const controller = 'node-drain-controller';

/** The statuses that leaders publish; null: we may not see them. */
export async function readDrainControllers(client: ApiClient): Promise<PublishedManagers | null> {
  try {
    return await readTaintManagers(client);
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 403) return null;
    throw error;
  }
}

/** The reason why NodeDrains are not carried out, and the remedy. */
export interface DrainControllerFault {
  /** The reason, as a clause. */
  readonly why: string;
  /** The remedy, as a clause. */
  readonly advice: string;
}

/** Tells why NodeDrains are not carried out; null: a controller carries them out, or may. */
export function drainControllerFault(
  published: PublishedManagers | null,
): DrainControllerFault | null {
  if (published === null) return null;
  const { managers, now } = published;
  const fresh = managers.filter((manager) => isFresh(manager, now));
  const acting = fresh.filter(({ shadow }) => shadow === null);
  if (acting.some(({ controllers }) => controllers.includes(controller))) return null;
  if (acting.length > 0) {
    return {
      why: `taintmgr-controller runs without ${controller}`,
      advice: `add it to its --controllers, and to its rights deploy/kustomize/components/node-drains`,
    };
  }
  const advice = `start it with --controllers=${controller} among others`;
  if (fresh.length > 0) return { why: 'taintmgr-controller only runs with --dry-run', advice };
  const [last] = managers.flatMap(({ renewedAt }) => renewedAt ?? []).sort((a, b) => b - a);
  const why =
    last === undefined
      ? 'taintmgr-controller has published no heartbeat'
      : `the last heartbeat of taintmgr-controller is ${formatDuration(Math.max(0, now - last))} old`;
  return { why, advice };
}
