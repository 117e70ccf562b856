// The pods that kube-controller-manager was refused for taints of their devices, and how it tries again at once.
import { formatTaint } from '@taintmgr/core';
import { Devices } from '@taintmgr/core/devices';
import type { Instant } from '@taintmgr/core/time';
import { type ApiClient, ApiError, lookForDevices } from '@taintmgr/k8s-adapter';
import {
  claimsPath,
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '@taintmgr/k8s-adapter/client';
import type { PodFacts } from '../../cluster/facts.ts';
import { unless } from '../../cluster/refusals.ts';
import type { HeldPod } from './status.ts';

type Paths = NonNullable<Awaited<ReturnType<typeof lookForDevices>>>['paths'];

/** Whose claims an annotation of ours was on for a moment. */
const annotation = 'taintmgr.dev/released';
const forbidden = 403;

/**
 * The devices of the cluster, for those who give a namespace back. kube-controller-manager tries ever later to
 * delete what it was refused, up to 1000 s apart; any change of its claim makes it try at once (seen on 1.36.2).
 */
export class HeldDevices {
  readonly #client: ApiClient;
  readonly #paths: Paths;

  private constructor(client: ApiClient, paths: Paths) {
    this.#client = client;
    this.#paths = paths;
  }

  /** Null: the cluster serves no devices. */
  static async of(client: ApiClient): Promise<HeldDevices | null> {
    const sight = await lookForDevices(client);
    return sight === null ? null : new HeldDevices(client, sight.paths);
  }

  /** Those of the pods of a namespace that it wants to delete until then; null: devices may not be read. */
  async dueIn(
    namespace: string,
    pods: readonly PodFacts[],
    until: Instant,
  ): Promise<readonly HeldPod[] | null> {
    const using = pods.filter(({ pod }) => pod.claims && pod.deletionTimestamp === null);
    if (using.length === 0) return [];
    const devices = await unless(forbidden, () => this.#read(namespace), null);
    if (devices === null) return null;
    return using.flatMap(({ pod }) => {
      const verdict = devices.verdictOf(pod);
      if (verdict.at === null || verdict.at > until) return [];
      const [{ taint, device }] = verdict.causes;
      const why = `for ${formatTaint(taint)} of device ${device.device}`;
      return [{ pod, dueAt: verdict.at, why }];
    });
  }

  async #read(namespace: string): Promise<Devices> {
    const { resourceslices, devicetaintrules } = this.#paths;
    const list = (path: string | null): Promise<readonly unknown[]> =>
      path === null ? Promise.resolve([]) : this.#client.list(path);
    const [slices, rules, claims] = await Promise.all([
      list(resourceslices),
      list(devicetaintrules),
      list(claimsPath(this.#paths, namespace)),
    ]);
    const devices = new Devices();
    for (const one of slices) {
      devices.handle({ kind: 'resourceSliceUpsert', slice: resourceSliceFromJson(one) });
    }
    for (const one of rules) {
      devices.handle({ kind: 'deviceTaintRuleUpsert', rule: deviceTaintRuleFromJson(one) });
    }
    for (const one of claims) {
      devices.handle({ kind: 'resourceClaimUpsert', claim: resourceClaimFromJson(one) });
    }
    return devices;
  }

  /** Changes the claims of these pods, and changes them back; why some could not be, in words. */
  async touch(held: readonly HeldPod[]): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const path of new Set(held.flatMap((one) => this.#claimsOf(one)))) {
      try {
        await this.#annotate(path, new Date().toISOString());
        await this.#annotate(path, null);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.failure.status !== 404) faults.push(error.failure.message);
      }
    }
    return faults;
  }

  #claimsOf({ pod }: HeldPod): readonly string[] {
    const all = claimsPath(this.#paths, pod.namespace);
    return (pod.claims ?? []).flatMap(({ claim }) =>
      claim === null || all === null ? [] : [`${all}/${encodeURIComponent(claim)}`],
    );
  }

  async #annotate(path: string, value: string | null): Promise<void> {
    const body = JSON.stringify({ metadata: { annotations: { [annotation]: value } } });
    const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
    await this.#client.send({ method: 'PATCH', path, headers, body });
  }
}
