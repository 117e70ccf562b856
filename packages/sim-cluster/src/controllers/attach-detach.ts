import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from '../store/cluster-api.ts';
import { Controller, type ControllerContext } from './controller.ts';
import { isTerminal } from './pods.ts';
import { attachedTo, attachmentName, claimsOf, volumeOnNode, volumesOf } from './volumes.ts';

const followed = new Set(['nodes', 'pods', 'persistentvolumeclaims', 'volumeattachments']);
/** The interval at which a volume is checked again that another node still has. */
const lookAgainMs = 500;

/** The time that it takes to attach a volume to a node, and to detach one. */
export interface AttachTiming {
  /** Milliseconds until a volume is attached; default 500. */
  readonly attachMs: number;
  /** Milliseconds until a volume is detached; default 1000. */
  readonly detachMs: number;
}

const defaultAttachTiming: AttachTiming = { attachMs: 500, detachMs: 1_000 };

/**
 * Attaches the volumes of pods to their nodes, and detaches them once no pod of the node has them and
 * its kubelet does not say that they are in use. A volume is attached to one node at a time. Work is
 * keyed by node name.
 */
export class AttachDetach extends Controller {
  readonly #timing: AttachTiming;
  /** The time at which each step of an attachment is done. */
  readonly #doneAt = new Map<string, number>();

  constructor(context: ControllerContext, timing: AttachTiming = defaultAttachTiming) {
    super(context);
    this.#timing = timing;
  }

  protected override get follows(): ReadonlySet<string> {
    return followed;
  }

  protected override begin(): void {
    this.#doneAt.clear();
    for (const pod of this.api.list('pods')) this.#noticePod(pod);
    for (const { spec } of this.api.list('volumeattachments')) this.queue.add(spec.nodeName);
  }

  protected override notice({ resource, object, previous }: Change): void {
    if (resource === 'pods') this.#noticePod(object);
    else if (resource === 'volumeattachments') this.queue.add(object.spec.nodeName);
    else if (resource === 'persistentvolumeclaims') this.#noticeClaim(object);
    else if (previous && object.status?.volumesInUse !== previous.status?.volumesInUse) {
      this.queue.add(object.metadata.name);
    }
  }

  #noticePod(pod: KubeObject): void {
    const { nodeName } = pod.spec;
    if (nodeName && claimsOf(pod).length > 0) this.queue.add(nodeName);
  }

  #noticeClaim({ metadata: { namespace, name } }: KubeObject): void {
    for (const pod of this.api.list('pods', namespace)) {
      if (claimsOf(pod).includes(name)) this.#noticePod(pod);
    }
  }

  protected override sync(nodeName: string): void {
    const { api, lookup } = this;
    const node = api.get('nodes', '', nodeName);
    const pods = lookup.podsOnNode(nodeName).filter((pod) => !isTerminal(pod));
    const volumes = pods.flatMap((pod) => volumesOf(api, pod));
    const wanted = new Map(volumes.map((volume) => [attachmentName(volume, nodeName), volume]));
    for (const [name, volume] of wanted) if (node) this.#attach(name, volume, nodeName);
    for (const attachment of api.list('volumeattachments')) {
      const { name } = attachment.metadata;
      if (attachment.spec.nodeName === nodeName && !wanted.has(name))
        this.#detach(attachment, node);
    }
  }

  #attach(name: string, volume: KubeObject, nodeName: string): void {
    const { api } = this;
    const persistentVolumeName = volume.metadata.name;
    const all = api.list('volumeattachments');
    const ofVolume = all.filter(({ spec }) => {
      return spec.source?.persistentVolumeName === persistentVolumeName;
    });
    const attachment = ofVolume.find((one) => one.metadata.name === name);
    if (attachment?.status?.attached === true) {
      this.#doneAt.delete(name);
      this.#writeAttached(nodeName, volumeOnNode(volume), true);
    } else if (attachment) {
      if (!this.#isDone(name, nodeName, this.#timing.attachMs)) return;
      api.update('volumeattachments', { ...attachment, status: { attached: true } }, 'status');
    } else if (ofVolume.length > 0) {
      this.queue.addAfter(nodeName, lookAgainMs);
    } else {
      const attacher = volume.spec.csi.driver;
      api.create('volumeattachments', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name },
        spec: { attacher, nodeName, source: { persistentVolumeName } },
      });
    }
  }

  #detach({ metadata: { name }, spec }: KubeObject, node: KubeObject | null): void {
    const { api } = this;
    const volume = api.get('persistentvolumes', '', spec.source?.persistentVolumeName ?? '');
    const called = volume ? volumeOnNode(volume) : '';
    const inUse: readonly string[] = node?.status?.volumesInUse ?? [];
    // The kubelet's next status says otherwise.
    if (inUse.includes(called)) return;
    if (!this.#isDone(name, spec.nodeName, this.#timing.detachMs)) return;
    this.#doneAt.delete(name);
    if (node) this.#writeAttached(spec.nodeName, called, false);
    api.delete('volumeattachments', '', name);
  }

  /** True if a step has taken its time since the first call. */
  #isDone(name: string, nodeName: string, takesMs: number): boolean {
    const now = this.api.clock.now();
    const at = this.#doneAt.get(name) ?? now + takesMs;
    this.#doneAt.set(name, at);
    if (at <= now) return true;
    this.queue.addAfter(nodeName, at - now);
    return false;
  }

  #writeAttached(nodeName: string, volume: string, isAttached: boolean): void {
    const node = this.api.get('nodes', '', nodeName);
    const names = attachedTo(node);
    if (!node || names.includes(volume) === isAttached) return;
    const kept = names.filter((name) => name !== volume);
    const next = isAttached ? [...kept, volume] : kept;
    const volumesAttached = next.map((name) => ({ name, devicePath: '' }));
    this.api.update('nodes', { ...node, status: { ...node.status, volumesAttached } }, 'status');
  }
}
