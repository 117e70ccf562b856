// Reaches and verifies kubelets, where they are asked without the API server.
import { readFileSync } from 'node:fs';
import type { Access, KubeletsOptions } from '@taintmgr/k8s-adapter';
import { SettingError } from '../flags/kind.ts';
import type { Settings } from '../flags/settings.ts';
import { version } from '../version.ts';

/** The means of asking kubelets at once, beside where they and the API server are. */
export type KubeletsConfig = Omit<KubeletsOptions, 'api' | 'addressOf'>;

/**
 * The authority kubelets are verified by and the token they are shown, as the settings want it; null: they
 * are asked through the API server. Throws SettingError where no authority is given for them.
 */
export async function kubeletsConfig(
  settings: Settings,
  access: Access,
): Promise<KubeletsConfig | null> {
  const { summarySource, summaryServiceAccount, kubeletCertificateAuthority: file } = settings;
  if (summarySource === 'proxy') return null;
  const ca = file === '' ? (await access.authorize()).tls.ca : readFileSync(file, 'utf8');
  if (ca === undefined) {
    const want =
      'the authority of the certificates of kubelets: that of the API server is not known';
    throw new SettingError('--kubelet-certificate-authority', '', want);
  }
  const [namespace = '', name = ''] = summaryServiceAccount.split('/');
  const userAgent = `taintmgr-controller/${version}`;
  return { ca, serviceAccount: { namespace, name }, userAgent };
}
