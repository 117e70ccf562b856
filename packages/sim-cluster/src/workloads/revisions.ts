// Finds the templates of a workload's pods by the names of its revisions.
import type { ControllerContext } from '../controllers/controller.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { isSameTemplate } from './template.ts';

/** The label by which a pod of a StatefulSet or a DaemonSet says its revision. */
export const revisionLabel = 'controller-revision-hash';

/** A pod template under its name. */
export interface Revision {
  readonly name: string;
  readonly template: KubeObject['spec'];
}

/** The number of revisions kept of each workload, equal to the default of the API server. */
const revisionsMax = 10;

/**
 * Remembers the templates of workloads under the names of their revisions. Without
 * ControllerRevisions no stored object holds an old template. Another cluster may name its
 * revisions by other rules, so a name is kept while its template stays the same.
 */
export class Revisions {
  /** By the uid of the workload; those that were met last are the last ones. */
  readonly #known = new Map<string, readonly Revision[]>();

  /**
   * The revision of the workload's template. Its name is that of the same template before;
   * otherwise the reported name, or the new one.
   */
  ofTemplate(workload: KubeObject, reported: string | undefined, newName: string): Revision {
    const { template } = workload.spec;
    const isSame = (known: Revision): boolean => isSameTemplate(known.template, template);
    const name = this.#of(workload).findLast(isSame)?.name || reported || newName;
    return this.#keep(workload, { name, template });
  }

  /** An older revision, as it is remembered or stored, or as its pods show it; null: unknown. */
  named(
    { api }: ControllerContext,
    workload: KubeObject,
    name: string,
    pods: readonly KubeObject[],
  ): Revision | null {
    const known = this.#of(workload).find((revision) => revision.name === name);
    if (known) return this.#keep(workload, known);
    const { namespace = '' } = workload.metadata;
    const stored = api.get('controllerrevisions', namespace, name)?.data?.spec?.template;
    const pod = pods.find(({ metadata }) => metadata.labels?.[revisionLabel] === name);
    const template = stored ?? (pod ? templateOf(pod) : null);
    return template && this.#keep(workload, { name, template });
  }

  /** Forgets a workload that is gone. */
  forget({ metadata }: KubeObject): void {
    this.#known.delete(metadata.uid ?? '');
  }

  #of({ metadata }: KubeObject): readonly Revision[] {
    return this.#known.get(metadata.uid ?? '') ?? [];
  }

  #keep(workload: KubeObject, revision: Revision): Revision {
    const known = this.#of(workload);
    const last = known.at(-1);
    if (last?.name === revision.name && last.template === revision.template) return last;
    const others = known.filter(({ name }) => name !== revision.name);
    const kept = [...others, revision].slice(-revisionsMax);
    this.#known.set(workload.metadata.uid ?? '', kept);
    return revision;
  }
}

/** The template of a pod, as far as the pod shows it, without its node. */
function templateOf({ metadata, spec }: KubeObject): Revision['template'] {
  const { nodeName: _place, ...rest } = spec;
  return { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec: rest };
}
