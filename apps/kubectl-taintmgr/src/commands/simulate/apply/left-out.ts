// Fields of pods that `snapshot` leaves out (images, commands, environment) do not count as changes
// by a manifest that sets these fields.
import type { Cluster, KubeObject } from '@taintmgr/sim-cluster';
import { keep, shapes } from '../../../cluster/snapshot-shapes.ts';
import { changedFields } from './fields.ts';

const shapeOf = new Map(Object.entries(shapes));
const withTemplate = ['deployments', 'statefulsets', 'daemonsets', 'jobs'];

/** Compares manifests with a cluster as far as it was written down. */
export class LeftOut {
  /** True if the cluster comes from a snapshot, which has no images. */
  readonly #isSnapshot: boolean;

  constructor({ api }: Cluster) {
    const isCut = ({ spec }: KubeObject): boolean =>
      spec.template?.spec?.containers?.[0]?.image === 'redacted';
    this.#isSnapshot = withTemplate.some((plural) => api.list(plural).some(isCut));
  }

  get notes(): readonly string[] {
    if (!this.#isSnapshot) return [];
    return [
      'a snapshot has no images, commands and environment: pods do not restart if --apply changes only these',
    ];
  }

  /** The part of an object that counts in a comparison. */
  counted(object: KubeObject): object {
    const shape = shapeOf.get(object.kind ?? '');
    return this.#isSnapshot && shape ? Object(keep(shape, object)) : object;
  }

  /** The manifest, with the template that is there where nothing differs that counts. */
  applied(manifest: KubeObject, before: KubeObject | null, after: KubeObject): KubeObject {
    if (!this.#isSnapshot || !before || manifest.spec?.template === undefined) return manifest;
    const [was, is] = [before, after].map((object) => templateOf(this.counted(object)));
    if (changedFields({ was }, { was: is }).length > 0) return manifest;
    return { ...manifest, spec: { ...manifest.spec, template: before.spec.template } };
  }
}

function templateOf(object: { readonly spec?: { readonly template?: unknown } }): unknown {
  return object.spec?.template;
}
