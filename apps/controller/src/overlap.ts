import { type Instant, parseTime } from '@taintmgr/core';
import { type ApiClient, ApiError, type EventSubject, listRequest } from '@taintmgr/k8s-adapter';
import { type ControllerName, isEnabled } from './flags/controllers.ts';

/** A kube-controller-manager that does the same work: one line with what to do about it. */
export class OverlapError extends Error {
  override readonly name = 'OverlapError';
}

/** The same work, done twice. */
export interface Overlap {
  /** Who does it, in words, and what to do about it. */
  readonly message: string;
  /** The lease by which it is known. */
  readonly lease: EventSubject;
}

const leaseApi = 'coordination.k8s.io/v1';
const [namespace, name] = ['kube-system', 'kube-controller-manager'];
const leasePath = `/apis/${leaseApi}/namespaces/${namespace}/leases/${name}`;
const podsPath = '/api/v1/namespaces/kube-system/pods';
/** As kubeadm, kops and kubespray label it. */
const podLabel = 'component=kube-controller-manager';
const podsMax = 20;

interface Lease {
  readonly metadata?: { readonly uid?: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}

interface PodList {
  readonly items?: readonly {
    readonly spec?: {
      readonly containers?: readonly {
        readonly command?: readonly string[];
        readonly args?: readonly string[];
      }[];
    };
  }[];
}

/**
 * Which of these controllers a kube-controller-manager runs too; null: none, as far as can be told.
 * It is there when its Lease is held and renewed. What it runs, its pods say; where they are not to
 * be seen, as in managed clusters, it runs everything.
 */
export async function findOverlap(
  client: Pick<ApiClient, 'get' | 'send'>,
  ours: readonly ControllerName[],
  now: Instant,
): Promise<Overlap | null> {
  const lease = (await readOrNull(() => client.get(leasePath))) as Lease | null;
  const holder = leaseHolder(lease, now);
  if (holder === null) return null;
  const request = listRequest(podsPath, { labelSelector: podLabel, limit: podsMax });
  const pods = (await readOrNull(() => client.send(request))) as PodList | null;
  const choices = (pods?.items ?? []).map(({ spec }) => chosenControllers(spec?.containers ?? []));
  const seen = choices.length === 0 ? [['*']] : choices;
  const shared = ours.filter((name) => seen.some((choice) => isEnabled(name, choice)));
  if (shared.length === 0) return null;
  const without = shared.map((name) => `-${name}`).join(',');
  const message =
    `kube-controller-manager (${holder}) runs ${shared.join(' and ')} too; start it with ` +
    `--controllers=*,${without}, or accept it with --allow-overlap`;
  const uid = lease?.metadata?.uid ?? '';
  return { message, lease: { apiVersion: leaseApi, kind: 'Lease', namespace, name, uid } };
}

/** Who holds the lease; null: nobody who lives. */
function leaseHolder(lease: Lease | null, now: Instant): string | null {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = lease?.spec ?? {};
  const renewed = parseTime(renewTime);
  const lives = renewed !== null && now - renewed <= 2 * leaseDurationSeconds * 1000;
  return holderIdentity !== '' && lives ? holderIdentity : null;
}

/** What the last --controllers on its command line says; everything without. */
function chosenControllers(
  containers: readonly {
    readonly command?: readonly string[];
    readonly args?: readonly string[];
  }[],
): readonly string[] {
  const words = containers.flatMap(({ command = [], args = [] }) => [...command, ...args]);
  const values = words.flatMap((word, index) => {
    if (word === '--controllers') return [words[index + 1] ?? ''];
    return word.startsWith('--controllers=') ? [word.slice('--controllers='.length)] : [];
  });
  return values.length === 0 ? ['*'] : values.flatMap((value) => value.split(','));
}

/** What is not there, or not for us to see, is no sign of kube-controller-manager. */
async function readOrNull(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.failure.status ?? 0)) return null;
    throw error;
  }
}
