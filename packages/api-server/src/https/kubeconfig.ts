// The kubeconfig that leads to an embedded cluster.
import { chmodSync, writeFileSync } from 'node:fs';

/** The one context of a kubeconfig. */
export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** The bearer token of the user. */
  readonly token: string;
  /** Names the cluster, the user and the context; default `taintmgr-sim`. */
  readonly name?: string;
}

/** A kubeconfig with one context, as YAML. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const name = JSON.stringify(options.name ?? 'taintmgr-sim');
  const ca = Buffer.from(options.ca).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${JSON.stringify(options.server)}
    certificate-authority-data: ${ca}
users:
- name: ${name}
  user:
    token: ${JSON.stringify(options.token)}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
`;
}

/**
 * Writes a kubeconfig that only its owner may read; an existing file is replaced. Throws the error
 * of Node if the file cannot be written.
 */
export function writeKubeconfig(path: string, options: KubeconfigOptions): void {
  // The mode counts only for a new file; an old one may be open to others.
  writeFileSync(path, '', { mode: 0o600 });
  chmodSync(path, 0o600);
  writeFileSync(path, kubeconfigText(options));
}
