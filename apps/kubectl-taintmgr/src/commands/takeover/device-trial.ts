// Tries the effect of takeover on the taint of a device, with a separate device, claim and pod.
import { type ApiClient, lookForDevices, objectRequest } from '@taintmgr/k8s-adapter';
import { claimsPath } from '@taintmgr/k8s-adapter/client';
import { isAllowed, rightOf } from '@taintmgr/k8s-adapter/survey';
import {
  deleteRequest,
  type Leftover,
  makePod,
  scratchLabels,
  takeAway,
} from '../../cluster/scratch.ts';
import { holdsDevices, type TakeoverState } from './state.ts';
import { type Fate, letGo, type Places, spared, trialTaint } from './trial.ts';

type Paths = NonNullable<Awaited<ReturnType<typeof lookForDevices>>>['paths'];

/** The pod, and its claim. */
export const deviceUser = 'device';
const driver = 'verify.taintmgr.dev';

/** The rights that it needs; a slice and a claim's status may mostly be written by administrators alone. */
const rights = [
  'create resourceslices.resource.k8s.io',
  'delete resourceslices.resource.k8s.io',
  'create resourceclaims.resource.k8s.io',
  'patch resourceclaims/status.resource.k8s.io',
].map(rightOf);

/** A device that is given to no other claim: it is tainted from the first moment on. */
export class DeviceTrial {
  readonly #client: ApiClient;
  readonly #places: Places;
  readonly #paths: Paths;

  private constructor(client: ApiClient, places: Places, paths: Paths) {
    this.#client = client;
    this.#places = places;
    this.#paths = paths;
  }

  /** Or why there is none, in words; null: the cluster serves no devices. */
  static async of(
    client: ApiClient,
    state: TakeoverState,
    places: Places,
  ): Promise<DeviceTrial | string | null> {
    const sight = await lookForDevices(client);
    if (sight === null || sight.paths.resourceslices?.includes('/v1beta1/')) return null;
    const untried = 'does not test taints of devices';
    if (!holdsDevices(state)) return `${untried}: kube-controller-manager decides about them`;
    const allowed = await Promise.all(rights.map((right) => isAllowed(client, right)));
    if (allowed.includes(false)) {
      return `${untried}: this needs the right to write ResourceSlices, ResourceClaims and their status`;
    }
    return new DeviceTrial(client, places, sight.paths);
  }

  /** Makes the claim, which holds the device already, and the pod. */
  async build(): Promise<void> {
    const { inside: namespace, node: nodeName } = this.#places;
    const [request, name] = ['device', deviceUser];
    const exactly = { deviceClassName: driver };
    await this.#post(`${claimsPath(this.#paths, namespace)}`, 'ResourceClaim', {
      metadata: { name, namespace },
      spec: { devices: { requests: [{ name: request, exactly }] } },
    });
    // For the taint of the node it stays.
    const tolerations = [{ ...trialTaint, operator: 'Exists' }];
    const pod = { namespace, name, nodeName, tolerations, isWatched: true, claim: name };
    const { metadata } = (await makePod(this.#client, pod)) as { readonly metadata: Named };
    const results = [{ request, driver, pool: namespace, device: 'd' }];
    const reservedFor = [{ resource: 'pods', name, uid: metadata.uid }];
    const status = { allocation: { devices: { results } }, reservedFor };
    const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
    const path = `${claimsPath(this.#paths, namespace)}/${name}/status`;
    await this.#client.send({ method: 'PATCH', path, headers, body: JSON.stringify({ status }) });
  }

  /** Publishes the device, tainted. */
  async taint(): Promise<void> {
    const { inside: name } = this.#places;
    const { key, effect } = trialTaint;
    await this.#post(`${this.#paths.resourceslices}`, 'ResourceSlice', {
      metadata: { name, labels: scratchLabels },
      spec: {
        driver,
        allNodes: true,
        pool: { name, generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'd', taints: [{ key, effect }] }],
      },
    });
  }

  async clear(): Promise<readonly Leftover[]> {
    const { inside } = this.#places;
    const path = `${this.#paths.resourceslices}/${inside}`;
    const request = this.#client.send(deleteRequest(path));
    return [
      ...(await takeAway(request, `kubectl delete resourceslice ${inside}`)),
      ...(await letGo(this.#client, { namespace: inside, name: deviceUser })),
    ];
  }

  async #post(path: string, kind: string, object: object): Promise<void> {
    const apiVersion = path.split('/').slice(2, 4).join('/');
    await this.#client.send(objectRequest('POST', path, { apiVersion, kind, ...object }));
  }
}

interface Named {
  readonly uid: string;
}

/** Taken over, and its device is tainted. */
export function deviceCase(fate: Fate): ReturnType<typeof spared> {
  return spared(
    4,
    'taken over, a device of it tainted: spared, and an Event says who decides',
    fate,
  );
}
