/** The namespaces of every cluster. */
export const presetNamespaces = [
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
] as const;
