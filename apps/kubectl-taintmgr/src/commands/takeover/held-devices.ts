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
import { inTurns, type PodFacts, unless } from '@taintmgr/k8s-adapter/survey';
import type { HeldPod } from './status.ts';

type Paths = NonNullable<Awaited<ReturnType<typeof lookForDevices>>>['paths'];

/** A pod that is held for a device of this claim, in its namespace. */
export interface HeldForDevice extends HeldPod {
  readonly claim: string;
}

/** Claims have this annotation of ours for a moment. */
const annotation = 'taintmgr.dev/released';
const forbidden = 403;

/**
 * The devices of the cluster, for giving a namespace back. kube-controller-manager tries refused deletions at
 * growing intervals, up to 1000 s; any change of a claim of the pod makes it try at once (seen on 1.36.2).
 */
export class HeldDevices {
  readonly #client: ApiClient;
  readonly #paths: Paths;
  /** Claims that have our annotation. */
  readonly #touched = new Set<string>();

  private constructor(client: ApiClient, paths: Paths) {
    this.#client = client;
    this.#paths = paths;
  }

  /** Null: the cluster serves no devices. */
  static async of(client: ApiClient): Promise<HeldDevices | null> {
    const sight = await lookForDevices(client);
    return sight === null ? null : new HeldDevices(client, sight.paths);
  }

  /**
   * The pods of a namespace that kube-controller-manager wants to delete until then; null: devices may not be
   * read.
   */
  async dueIn(
    namespace: string,
    pods: readonly PodFacts[],
    until: Instant,
  ): Promise<readonly HeldForDevice[] | null> {
    const using = pods.filter(({ pod }) => pod.claims && pod.deletionTimestamp === null);
    if (using.length === 0) return [];
    const devices = await unless(forbidden, () => this.#read(namespace), null);
    if (devices === null) return null;
    return using.flatMap(({ pod }) => {
      const verdict = devices.verdictOf(pod);
      if (verdict.at === null || verdict.at > until) return [];
      const [{ taint, device, claim }] = verdict.causes;
      const why = `for ${formatTaint(taint)} of device ${device.device}`;
      return [{ pod, dueAt: verdict.at, why, claim }];
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

  /** Changes the claim of each of these pods, a few at a time; why one could not be, in words, or null. */
  async touch(held: readonly HeldForDevice[]): Promise<string | null> {
    const paths = new Set(
      held.flatMap(({ pod, claim }) => {
        const all = claimsPath(this.#paths, pod.namespace);
        return all === null ? [] : [`${all}/${encodeURIComponent(claim)}`];
      }),
    );
    const now = new Date().toISOString();
    const faults = await inTurns([...paths], async (path) => {
      const fault = await this.#annotate(path, now);
      if (fault === null) this.#touched.add(path);
      return fault;
    });
    return faults.find((one) => one !== null) ?? null;
  }

  /** Changes them back. */
  async clean(): Promise<void> {
    const paths = [...this.#touched];
    this.#touched.clear();
    await inTurns(paths, (path) => this.#annotate(path, null));
  }

  /** The reason of a failure, in words; null: it is done, or the claim is gone. */
  async #annotate(path: string, value: string | null): Promise<string | null> {
    const body = JSON.stringify({ metadata: { annotations: { [annotation]: value } } });
    const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' };
    try {
      await this.#client.send({ method: 'PATCH', path, headers, body });
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error.failure.status === 404 ? null : error.failure.message;
    }
  }
}
