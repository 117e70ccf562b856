// docs/commands/pause.md: what it shows is what kubectl and the plugin print.
import { after, before, describe, it } from 'node:test';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { run } from '../../world/run.ts';
import { fillShop, keepRenewing } from '../../world/shop-cluster.ts';
import { terminal } from '../../world/terminal.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';
import { durations, playTranscript } from '../../world/transcript.ts';

const page = new URL('../../../../../docs/commands/pause.md', import.meta.url);

describe('pause by kubectl', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  let endRenewing = (): void => {};
  before(async () => {
    cluster = await startTestCluster(null);
    fillShop(cluster);
    endRenewing = keepRenewing(cluster);
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
    await run('install', 'crds');
  });
  after(() => {
    endRenewing();
    return cluster.stop();
  });

  it('is as the page shows it', () => {
    const steady = (text: string): string => text.replace(durations, '1s').replace(/ {2,}/g, '  ');
    return playTranscript(page, terminal(), steady);
  });
});
