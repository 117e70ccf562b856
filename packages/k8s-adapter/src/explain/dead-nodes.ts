// The way out for pods of a machine that seems to be dead, and how to know that the way is safe.
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { type Attachment, isDead, outOfServiceKey } from '../survey/dead-nodes.ts';
import { count, listText } from '../text/count.ts';
import { printable, shellWord } from '../text/printable.ts';
import type { DeadNodeDocument } from './answers.ts';
import type { NodeReport, PodReport } from './report.ts';

/** A silent node whose pods cannot end. */
export interface DeadNode {
  readonly name: string;
  /** Since when the kubelet has been silent. */
  readonly since: Instant;
  /** The machine as the cloud names it; '': the Node does not say. */
  readonly providerId: string;
  /** Pods that terminate, or have to leave. */
  readonly stuck: readonly PodReport[];
  /** Of those the ones that must not run twice: of StatefulSets, or with PersistentVolumeClaims. */
  readonly alone: readonly PodReport[];
  /** True: the machine is marked as off already. */
  readonly isOutOfService: boolean;
  /** True: a cloud provider's controller has said that the machine is shut down. */
  readonly isShutDown: boolean;
  /** The volumes that are attached to the node; null: we may not see them; undefined: no pod has any, or not asked. */
  readonly attachments: readonly Attachment[] | null | undefined;
}

/** The taint of cloud providers' controllers on nodes whose machine is shut down. */
const shutDownKey = 'node.cloudprovider.kubernetes.io/shutdown';

/**
 * Tells whether the node of a report is dead as far as can be seen; null: it is not, or no pod
 * waits for it.
 */
export function deadNodeOf(
  { facts, pods, attachments }: Pick<NodeReport, 'facts' | 'pods' | 'attachments'>,
  at: Instant,
): DeadNode | null {
  const { ready } = facts;
  const stuck = (pods ?? []).filter(({ blockers }) => {
    return blockers.some(({ code }) => code === 'NodeLost');
  });
  if (ready.since === null || !isDead(ready, at) || stuck.length === 0) return null;
  const { name, taints } = facts.node;
  const has = (wanted: string): boolean => taints.some(({ key }) => key === wanted);
  return {
    name,
    since: ready.since,
    providerId: facts.providerId ?? '',
    stuck,
    alone: stuck.filter(({ facts: { pod, volumeClaims } }) => {
      return pod.owner?.kind === 'StatefulSet' || volumeClaims !== undefined;
    }),
    isOutOfService: has(outOfServiceKey),
    isShutDown: has(shutDownKey),
    attachments,
  };
}

/** The commands that say to the cluster that the machine is off. */
function commandsFor(name: string): DeadNodeDocument['commands'] {
  const word = shellWord(name);
  return {
    outOfService: `kubectl taint nodes ${word} ${outOfServiceKey}=nodeshutdown:NoExecute`,
    deleteNode: `kubectl delete node ${word}`,
  };
}

/** Says how many pods cannot end as their kubelet is silent, and for how long. */
export function stuckText({ since, stuck }: DeadNode, at: Instant): string {
  const pods = count(stuck.length, 'pod');
  const silent = formatDuration(at - since);
  return `${pods} cannot end: the kubelet has been silent for ${silent}, and only the kubelet may end ${stuck.length === 1 ? 'it' : 'them'}`;
}

/** Returns the steps out for a dead node: first what has to be known, then the commands. */
export function deadNodeLines(dead: DeadNode): readonly string[] {
  const { name, providerId, isOutOfService, isShutDown, attachments } = dead;
  const { outOfService, deleteNode } = commandsFor(name);
  const power = providerId === '' ? 'its power state' : `the power state of ${providerId}`;
  const where = `ask its cloud or its BMC for ${power}`;
  const check = isShutDown
    ? `its cloud says that the machine is shut down (taint ${shutDownKey}); to be sure, ${where}`
    : `first make sure that the machine is off: ${where}; a machine that has lost its network continues to run its pods`;
  const ways = isOutOfService
    ? [
        `the taint ${outOfServiceKey} is there: kube-controller-manager deletes each of its pods within a minute once the pod terminates`,
      ]
    : [
        `when it is off for a while: ${outOfService} (take the taint off when the machine is back)`,
        `when it is gone for good: ${deleteNode}`,
      ];
  const held = attachments?.map(({ name: id, volume }) =>
    volume === '' ? id : `${id} (${volume})`,
  );
  return [
    check,
    ...ways,
    ...aloneText(dead),
    ...(held && held.length > 0
      ? [`VolumeAttachments that hold volumes there: ${listText(held)}`]
      : []),
    ...(attachments === null
      ? [
          'which volumes are attached there could not be read: no permission to list volumeattachments',
        ]
      : []),
  ].map(printable);
}

function aloneText({ name, alone, isOutOfService }: DeadNode): readonly string[] {
  if (alone.length === 0) return [];
  const names = alone.map(({ facts: { pod, volumeClaims = [] } }) => {
    const owner = pod.owner?.kind === 'StatefulSet' ? [`StatefulSet/${pod.owner.name}`] : [];
    const parts = [...owner, ...volumeClaims.map((claim) => `volume ${claim}`)];
    return `${pod.namespace}/${pod.name} (${parts.join(', ')})`;
  });
  const instead = isOutOfService
    ? `take the taint off (kubectl taint nodes ${shellWord(name)} ${outOfServiceKey}-)`
    : 'do neither';
  return [
    `while it may still run, ${instead}: a second ${listText(names, ' and ')} would write beside the first`,
  ];
}

/** The same for documents. */
export function deadNodeDocument(dead: DeadNode): DeadNodeDocument {
  const { name, since, providerId, stuck, alone, isOutOfService, isShutDown, attachments } = dead;
  const named = (pods: readonly PodReport[]): readonly string[] =>
    pods.map(({ facts: { pod } }) => `${pod.namespace}/${pod.name}`);
  return {
    silentSince: formatTime(since),
    ...(providerId !== '' && { providerID: providerId }),
    stuckPods: named(stuck),
    mustNotRunTwice: named(alone),
    outOfService: isOutOfService,
    shutDown: isShutDown,
    ...(attachments !== undefined && { volumeAttachments: attachments }),
    commands: commandsFor(name),
    toDo: deadNodeLines(dead),
  };
}
