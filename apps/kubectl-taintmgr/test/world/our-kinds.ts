import { customResourceDefinitions } from '@taintmgr/core/policy';
import type { ApiServer } from '@taintmgr/sim-cluster';

/** Installs our kinds in a cluster; resolves when they are served. */
export async function installOurKinds(api: ApiServer): Promise<void> {
  for (const definition of customResourceDefinitions()) {
    api.create('customresourcedefinitions', structuredClone(definition));
  }
  const isServed = (): boolean => {
    const all = api.list('customresourcedefinitions');
    return all.every(({ status }) => JSON.stringify(status).includes('InitialNamesAccepted'));
  };
  await new Promise<void>((resolve) => {
    if (isServed()) return resolve();
    const stop = api.subscribe(() => {
      if (!isServed()) return;
      stop();
      resolve();
    });
  });
}
