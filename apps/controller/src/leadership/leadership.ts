import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { controllersAnnotation, type ElectionOptions, type LeaseName } from '@taintmgr/k8s-adapter';
import type { Choices } from '../flags/resolve.ts';
import type { Settings } from '../flags/settings.ts';

/**
 * Decides whether this replica acts: it has been elected, where there are elections, and no other program does
 * the same work, or that is accepted. The loop runs the election itself; it learns from here whether
 * it may act once elected.
 */
export class Leadership {
  #elected: boolean;
  #overlap: string | null = null;
  readonly #onChange: (mayAct: boolean) => void;
  readonly #accepts: boolean;

  /** `accepts`: act beside other programs that do the same work. */
  constructor(elected: boolean, onChange: (mayAct: boolean) => void, accepts = false) {
    this.#elected = elected;
    this.#onChange = onChange;
    this.#accepts = accepts;
  }

  /** True if it acts. */
  get held(): boolean {
    return this.#elected && this.standsBackFor === null;
  }

  /** True if it holds the lease, or needs none. */
  get elected(): boolean {
    return this.#elected;
  }

  /** The other program that does the same work, in words, accepted or not; null: none. */
  get overlap(): string | null {
    return this.#overlap;
  }

  /** The same, where it keeps this replica from acting. */
  get standsBackFor(): string | null {
    return this.#accepts ? null : this.#overlap;
  }

  elect(elected: boolean): void {
    this.#elected = elected;
  }

  collide(overlap: string | null): void {
    const isNews = (overlap === null) !== (this.#overlap === null);
    this.#overlap = overlap;
    if (isNews && !this.#accepts) this.#onChange(overlap === null);
  }
}

/**
 * The way this replica stands for election, by kube-controller-manager's flags. The lease says which
 * controllers its holder runs: an installation with other controllers does not stand by for it.
 */
export function electionOptions(
  { settings, ownPod }: Pick<Choices, 'settings' | 'ownPod'>,
  controllers: readonly string[],
): Omit<ElectionOptions, 'random'> {
  const { resourceName: name, resourceNamespace: namespace } = settings;
  const { leaseDuration: lease, renewDeadline, retryPeriod: retry } = settings;
  return {
    lease: { name, namespace },
    identity: `${ownPod?.name ?? hostname()}_${randomUUID()}`,
    timing: { lease, renewDeadline, retry },
    annotations: { [controllersAnnotation]: controllers.join(',') },
  };
}

/** The lease in which limit counts are stored, beside the lease of the election. */
export function limitsLease({ resourceName, resourceNamespace }: Settings): LeaseName {
  return { namespace: resourceNamespace, name: `${resourceName}-limits` };
}
