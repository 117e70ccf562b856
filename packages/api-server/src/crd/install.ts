// Installs custom resource definitions in a cluster and waits until they are served.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster/server';

const resource = 'customresourcedefinitions';

/**
 * Creates CustomResourceDefinitions; resolves when all of them are served. Throws the ApiError of a
 * definition that is refused, such as AlreadyExists.
 */
export async function installDefinitions(
  api: ClusterApi,
  definitions: readonly object[],
): Promise<void> {
  const names = definitions.map((definition) => {
    return api.create(resource, structuredClone(definition) as KubeObject).metadata.name;
  });
  const areServed = (): boolean => names.every((name) => isServed(api.get(resource, '', name)));
  if (areServed()) return;
  await new Promise<void>((resolve) => {
    const stop = api.subscribe(() => {
      if (!areServed()) return;
      stop();
      resolve();
    });
  });
}

/** True if the names of a definition are accepted and its resources are served. */
function isServed(definition: KubeObject | null): boolean {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    definition?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}
