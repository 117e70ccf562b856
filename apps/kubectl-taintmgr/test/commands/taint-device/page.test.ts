// docs/commands/taint-device.md: what it shows is what kubectl and the plugin print.
import { after, before, describe, it } from 'node:test';
import { startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';
import { installPlugin, withoutKubectl } from '../../world/plugin.ts';
import { terminal } from '../../world/terminal.ts';
import type { TestCluster } from '../../world/test-cluster.ts';
import { durations, playTranscript } from '../../world/transcript.ts';

const page = new URL('../../../../../docs/commands/taint-device.md', import.meta.url);

/** What kube-controller-manager says of a rule for one device that two pods use. */
const said: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  None: [
    'NoEffect',
    '1 published device selected. 1 allocated device selected. 2 pods would be evicted in 1 namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
  ],
  NoExecute: ['PodsPendingEviction', '2 pods need to be evicted in 1 namespace.'],
};

interface Rule {
  readonly spec: { readonly taint: { readonly effect: string } };
  readonly status?: { readonly conditions?: readonly { readonly observedGeneration: number }[] };
}

/** Writes what it says of rules that it has not spoken of, until the function that is returned is called. */
function speak({ api }: TestCluster): () => void {
  const timer = setInterval(() => {
    for (const one of api.list('devicetaintrules')) {
      const { spec, status } = one as unknown as Rule;
      const { name, generation } = one.metadata;
      const [reason = '', message = ''] = said[spec.taint.effect] ?? [];
      if (status?.conditions?.[0]?.observedGeneration === generation) continue;
      writeProgress(api, name, reason, message);
    }
  }, 20);
  return () => clearInterval(timer);
}

describe('taint-device by kubectl', { skip: withoutKubectl }, () => {
  let cluster: TestCluster;
  let endSpeaking = (): void => {};
  before(async () => {
    cluster = await startDeviceCluster();
    endSpeaking = speak(cluster);
    process.env.PATH = installPlugin(cluster.directory);
    process.env.HOME = cluster.directory;
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => {
    endSpeaking();
    return cluster.stop();
  });

  it('is as the page shows it', () => {
    const steady = (text: string): string =>
      text
        .replace(durations, '1s')
        .replace(/overdue by 1s/g, 'now')
        .replace(/ {2,}/g, '  ');
    return playTranscript(page, terminal(), steady);
  });
});
