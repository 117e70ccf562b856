import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { execute, installPlugin, withoutKubectl } from './plugin.ts';
import { fillShop } from './shop-cluster.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';
import { playTranscript } from './transcript.ts';

// `explain` by the machine's own kubectl, against an API server over HTTPS.

const folder = new URL('testdata/explain/', import.meta.url);
const files = readdirSync(folder).map((name) => new URL(name, folder));
const page = new URL('../../../docs/commands/explain.md', import.meta.url);

/** The leases of the shop's nodes have not been renewed for so long. */
const steady = (text: string): string => text.replace(/\b3h3\dm\b/g, '3h30m');

describe('kubectl taintmgr explain', { skip: withoutKubectl, concurrency: 2 }, () => {
  let cluster: TestCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    const reader = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes', 'pods'] }];
    cluster = await startTestCluster(null, { reader });
    fillShop(cluster);
    env = {
      PATH: installPlugin(cluster.directory),
      HOME: cluster.directory,
      KUBECONFIG: cluster.kubeconfig,
    };
  });
  after(() => cluster.stop());

  for (const file of [...files, page]) {
    it(file.pathname.split('/').at(-1) ?? '', () =>
      playTranscript(file, (line) => execute('sh', ['-c', line], env), steady),
    );
  }
});
