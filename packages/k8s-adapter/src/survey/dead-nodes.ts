// Nodes whose machine seems to be dead: their pods do not end until the machine is marked as off.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { NodeFacts, PodFacts, Readiness } from './facts.ts';
import type { ClusterReader } from './reader.ts';
import { unless } from './refusals.ts';

/** A machine that reboots answers again within minutes. */
const deadAfterMs: Millis = 300_000;

/** The taint by which an administrator says that the machine is off. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** True: the node has been silent for longer than a reboot takes. */
export function isDead({ status, since }: Readiness, at: Instant): boolean {
  return status === 'Unknown' && since !== null && at - since >= deadAfterMs;
}

/** The volumes that are attached to nodes, by node; null: we may not see them. */
export type Attachments = ReadonlyMap<string, readonly Attachment[]> | null;

/** A VolumeAttachment. */
export interface Attachment {
  readonly name: string;
  /** The PersistentVolume; '': it is inline. */
  readonly volume: string;
}

interface AttachmentObject {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
}

const attachmentsPath = '/apis/storage.k8s.io/v1/volumeattachments';

/** The survey as read before. */
interface Given {
  readonly at: Instant;
  readonly nodes: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
}

/** The same with the volumes that dead nodes hold, where pods of theirs have any. */
export async function withAttachments<S extends Given>(
  reader: ClusterReader,
  survey: S,
): Promise<S & { readonly attachments?: Attachments }> {
  const dead = new Set(
    survey.nodes.filter(({ ready }) => isDead(ready, survey.at)).map(({ node }) => node.name),
  );
  const isMeant = survey.pods.some(
    ({ pod, volumeClaims }) => volumeClaims !== undefined && dead.has(pod.nodeName),
  );
  if (!isMeant) return survey;
  const read = () => reader.objectsIfServed(attachmentsPath);
  const objects = (await unless(403, read, null)) as readonly AttachmentObject[] | null;
  if (objects === null) return { ...survey, attachments: null };
  const attachments = new Map<string, Attachment[]>();
  for (const { metadata, spec = {} } of objects) {
    const { nodeName = '', source } = spec;
    if (!dead.has(nodeName)) continue;
    const one = { name: metadata.name, volume: source?.persistentVolumeName ?? '' };
    attachments.set(nodeName, [...(attachments.get(nodeName) ?? []), one]);
  }
  return { ...survey, attachments };
}
