import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installPlugin, withoutKubectl } from '../world/plugin.ts';
import { fillShop, keepRenewing } from '../world/shop-cluster.ts';
import { terminal } from '../world/terminal.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';
import { playTranscript } from '../world/transcript.ts';

// What only reads, by the machine's own kubectl, against an API server over HTTPS.

const testdata = new URL('../testdata/commands/', import.meta.url);
const files = ['./', 'completion/', 'doctor/', 'explain/', 'pending/', 'status/'].flatMap(
  (name) => {
    const folder = new URL(name, testdata);
    const texts = readdirSync(folder).filter((file) => file.endsWith('.txt'));
    return texts.map((file) => new URL(file, folder));
  },
);
const pages = ['explain', 'status', 'doctor', 'snapshot', 'completion'].map(
  (name) => new URL(`../../../../docs/commands/${name}.md`, import.meta.url),
);

/** What is different from machine to machine and from release to release, and how long a command takes. */
const steady = (text: string): string =>
  text
    .replace(/\b1\ds ago\b/g, '10s ago')
    .replace(/at \d\d:\d\d:\d\dZ \(\d+s ago\)/g, 'at <time> (10s ago)')
    .replace(/(Client Version|gitVersion): v\S+/g, '$1: <version>')
    .replace(/nodeVersion: v[\d.]+/, 'nodeVersion: <version>')
    .replace(/platform: \w+\/\w+/, 'platform: <platform>')
    .replace(/\b\d+\.\d+\.\d+\b/g, '<version>')
    .replace(/taintmgr-test-\w+/g, 'taintmgr-test');

describe('kubectl taintmgr on a cluster at rest', { skip: withoutKubectl, concurrency: 2 }, () => {
  let cluster: TestCluster;
  let endRenewing = (): void => {};
  before(async () => {
    const reader = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes', 'pods'] }];
    // Files are named as they are from the root of the repository.
    process.chdir(fileURLToPath(new URL('../../../../', import.meta.url)));
    cluster = await startTestCluster(null, { reader, blind: [] });
    fillShop(cluster);
    endRenewing = keepRenewing(cluster);
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => {
    endRenewing();
    return cluster.stop();
  });

  for (const file of [...files, ...pages]) {
    it(file.pathname.split('/').at(-1) ?? '', () => playTranscript(file, terminal(), steady));
  }
});
