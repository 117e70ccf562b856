// Finds out whether volumes of a StatefulSet are still attached to nodes that its pods have left.
import type { Command, Outcome } from '@taintmgr/core';
import { answerValue, type Failure, failureOf, succeeded } from '../../proto/answer.ts';
import { asList, asRecord, asText, type JsonRecord } from '../../proto/json.ts';
import { getRequest } from '../../proto/requests.ts';
import { call, changed, done, failedBy, readPages, type Steps } from '../task.ts';

type Question = Extract<Extract<Command, { kind: 'askForDrain' }>['question'], { kind: 'volumes' }>;

/** The volume of a pod that is not there any more. */
interface FreeVolume {
  readonly name: string;
  readonly pod: string;
}

type Volumes = readonly FreeVolume[];

/**
 * Reads which claims the set makes, which volumes they have, and where those are attached; then, of
 * the pod that went last, whether its node has them by its own account. A missing set, volume or
 * node waits for nothing; a whole collection is never gone.
 */
export function* volumeSteps(question: Question): Steps {
  const apps = `/apis/apps/v1/namespaces/${part(question.namespace)}`;
  const set = yield* read(`${apps}/statefulsets/${part(question.statefulSet)}`);
  if (set.failure) return failedBy(set.failure);
  const volumes: FreeVolume[] = [];
  const templates = templatesOf(set.body);
  if (templates.length === 0) return done;
  const claims = `/api/v1/namespaces/${part(question.namespace)}/persistentvolumeclaims`;
  const unlisted = yield* readPages(claims, (page) => {
    volumes.push(...volumesOf(question, templates, page));
  });
  if (unlisted) return listFailed(unlisted, 'claims');
  if (volumes.length === 0) return done;
  let attached: string | null = null;
  const unknown = yield* readPages('/apis/storage.k8s.io/v1/volumeattachments', (page) => {
    attached = attachedOf(question, volumes, page);
    return attached !== null;
  });
  if (unknown) return listFailed(unknown, 'attachments');
  return attached === null ? yield* nodeSteps(question, volumes) : changed(attached);
}

/** Asked after the attachments: what the volumes are called on a node, then what the node says. */
function* nodeSteps({ left }: Question, volumes: Volumes): Steps {
  const onNode: FreeVolume[] = [];
  for (const { name, pod } of volumes.filter((one) => one.pod === left?.pod)) {
    const volume = yield* read(`/api/v1/persistentvolumes/${part(name)}`);
    if (volume.failure) return failedBy(volume.failure);
    const { driver, volumeHandle } = asRecord(asRecord(volume.body.spec).csi);
    const called = `kubernetes.io/csi/${asText(driver)}^${asText(volumeHandle)}`;
    if (driver !== undefined) onNode.push({ name: called, pod });
  }
  if (!left || onNode.length === 0) return done;
  const node = yield* read(`/api/v1/nodes/${part(left.node)}`);
  if (node.failure) return failedBy(node.failure);
  const names = namesOn(asRecord(node.body.status));
  const found = onNode.find(({ name }) => names.has(name));
  return found ? changed(inWords(found, left.node)) : done;
}

/** Reads one object; empty where it is gone. */
function* read(path: string): Steps<{ body: JsonRecord; failure?: Failure }> {
  const { answer } = yield* call(getRequest(path));
  if (succeeded(answer)) return { body: asRecord(answerValue(answer)) };
  const failure = failureOf(answer);
  return failure.status === 404 ? { body: {} } : { body: {}, failure };
}

function listFailed(failure: Failure, what: string): Outcome {
  if (failure.status !== 404) return failedBy(failure);
  return changed(`the cluster has no ${what} of volumes`);
}

/** The volumes that the node has by its own account. */
function namesOn({ volumesAttached, volumesInUse }: JsonRecord): ReadonlySet<string> {
  const attached = asList(volumesAttached).map((one) => asText(asRecord(one).name));
  return new Set([...attached, ...asList(volumesInUse).map(asText)]);
}

function templatesOf({ spec }: JsonRecord): readonly string[] {
  const templates = asList(asRecord(spec).volumeClaimTemplates).map(asRecord);
  return templates.map(({ metadata }) => asText(asRecord(metadata).name));
}

/** The volumes of claims that the set has made for pods that are not there. */
function volumesOf(
  { statefulSet, staying }: Question,
  templates: readonly string[],
  { items }: JsonRecord,
): Volumes {
  return asList(items)
    .map(asRecord)
    .flatMap(({ metadata, spec }): Volumes => {
      const claim = asText(asRecord(metadata).name);
      const prefix = templates.find((one) => claim.startsWith(`${one}-${statefulSet}-`));
      const pod = prefix === undefined ? '' : claim.slice(prefix.length + 1);
      const isNumbered = /^\d+$/.test(pod.slice(statefulSet.length + 1));
      const name = asText(asRecord(spec).volumeName);
      return isNumbered && name !== '' && !staying.includes(pod) ? [{ name, pod }] : [];
    });
}

/**
 * The first of them that is attached to one of the nodes, in words; null: there is none on this
 * page.
 */
function attachedOf({ nodes }: Question, volumes: Volumes, { items }: JsonRecord): string | null {
  for (const { spec } of asList(items).map(asRecord)) {
    const { nodeName, source } = asRecord(spec);
    const node = asText(nodeName);
    const name = asText(asRecord(source).persistentVolumeName);
    const volume = nodes.includes(node) ? volumes.find((one) => one.name === name) : undefined;
    if (volume) return inWords(volume, node);
  }
  return null;
}

/** Names the volume as the object of a wait. */
function inWords({ name, pod }: FreeVolume, node: string): string {
  return `volume ${name} of pod ${pod} to detach from node ${node}`;
}

function part(name: string): string {
  return encodeURIComponent(name);
}
